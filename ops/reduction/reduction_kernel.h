// Kernels of reductions over the middle of a contiguous (outer, count, inner) block. They assume
// what the public calls have checked.
#pragma once

#include <cstdint>

namespace torus::cpu {

// out[o, i] = (sum over c of in[o, c, i]) / divisor. T is float or double.
//
// The order of additions depends on the three sizes alone, never on the number of threads. float:
// groups of at most 16 (rows) or 512 (within a row, by 32 lanes) are added in float and the groups
// in double, so the error stays near 20 eps whatever the count.
template <class T>
void SumMiddle(int64_t outer, int64_t count, int64_t inner, const T* in, double divisor, T* out);

}  // namespace torus::cpu
