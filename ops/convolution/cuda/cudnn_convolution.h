// Convolution by cuDNN, in f32, bf16 and f16; sums are f32. Each call says whether it took the
// case: where it did not, it wrote nothing. It leaves out f64, depthwise convolutions (kernels of
// ours read each pixel once; docs/decisions.md), those of nothing, emulated GPUs, and what cuDNN
// has no deterministic plan for.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cuda {

using ops::ConvGeometry;

// The bias, f32, may be undefined. It is added before the sum is rounded, or, where no plan does
// that, to the rounded sum.
bool CudnnForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  Tensor& y, StreamHandle stream);
bool CudnnBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                        StreamHandle stream);
// dw may be f32 beside low x and dy; where cuDNN then writes it in their type alone, it is rounded
// to that once.
bool CudnnBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                         StreamHandle stream);

}  // namespace torus::cuda
