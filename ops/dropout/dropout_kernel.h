// Kernels of dropout. They assume what the public call has checked.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/rng.h"

namespace torus::cpu {

// keep[s, i] = 1 where word i of streams[s] is at least `threshold` (p 2^32), else 0; `count`
// elements a sample.
void DropoutMask(std::span<const RandomStream> streams, int64_t count, uint64_t threshold,
                 uint8_t* keep);

// y[i] = keep[i] ? x[i] * scale : 0; also the gradient. T is float or double.
template <class T>
void DropoutApply(int64_t n, const T* x, const uint8_t* keep, T scale, T* y);

}  // namespace torus::cpu
