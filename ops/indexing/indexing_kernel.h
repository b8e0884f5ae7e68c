// Kernels that pick by index. They assume that every index was checked. T is float or double.
#pragma once

#include <cstdint>

#include "ops/elementwise/broadcast.h"

namespace torus::cpu {

// out[o, k, i] = in[o, index[k], i] over contiguous (outer, rows, inner) and (outer, count, inner).
template <class T>
void SelectRows(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* index,
                const T* in, T* out);

// din[o, index[k], i] += dout[o, k, i], in the order of k; `din` is zeroed first. Index `skip` adds
// nothing (-1: none).
template <class T>
void AddRows(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* index,
             int64_t skip, const T* dout, T* din);

// Over the walk of `plan` (operands: place in the input with its dimension at 0, index):
// out[i] = in[place(i) + index[i] * stride].
template <class T>
void Gather(const ops::BroadcastPlan& plan, const int64_t* index, int64_t stride, const T* in,
            T* out);

// din[place(i) + index[i] * stride] += dout[i], in the order of i; `din` was zeroed.
template <class T>
void GatherBackward(const ops::BroadcastPlan& plan, const int64_t* index, int64_t stride,
                    const T* dout, T* din);

}  // namespace torus::cpu
