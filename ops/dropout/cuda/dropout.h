// Dropout on a GPU, with the same bits as on a CPU; ops/dropout/kernels.h has the contracts.
#pragma once

#include <span>

#include "ops/dropout/dropped_elements.h"
#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::cuda {

void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep,
                 StreamHandle stream);
void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y,
                  StreamHandle stream);

void DropoutAdd(const Tensor& x, const Tensor& residual, const ops::DroppedElements& dropped,
                Tensor& y, StreamHandle stream);
void DropoutGradient(const Tensor& dy, const ops::DroppedElements& dropped, Tensor& dx,
                     StreamHandle stream);

}  // namespace torus::cuda
