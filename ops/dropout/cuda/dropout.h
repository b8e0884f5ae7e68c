// Dropout on a GPU, with the same bits as on a CPU; ops/dropout/kernels.h has the contracts.
#pragma once

#include <span>

#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::cuda {

void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep,
                 StreamHandle stream);
void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y,
                  StreamHandle stream);

}  // namespace torus::cuda
