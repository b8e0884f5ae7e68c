// Dropout on a CPU; ops/dropout/kernels.h has the contracts.
#pragma once

#include <span>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::cpu {

void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep);
void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y);

}  // namespace torus::cpu
