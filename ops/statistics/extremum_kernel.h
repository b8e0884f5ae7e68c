// Kernels that find the largest of the middle of a contiguous (outer, count, inner) block, count >=
// 1. NaN is larger than every number; of equals the first is meant. T is float or double.
#pragma once

#include <cstdint>

namespace torus::cpu {

// value[o, i] = max over c of in[o, c, i], and where[o, i] the c that has it. Either may be null.
template <class T>
void MaxMiddle(int64_t outer, int64_t count, int64_t inner, const T* in, T* value, int64_t* where);

}  // namespace torus::cpu
