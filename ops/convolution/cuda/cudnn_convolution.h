// Convolution by cuDNN, in f32, bf16 and f16; sums are f32. Each function returns whether it ran;
// if not, it has written nothing. Not supported: f64, depthwise convolutions (our own kernels read
// each pixel once; docs/decisions.md), empty ones, emulated GPUs, and cases for which cuDNN has no
// deterministic plan.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cuda {

using ops::ConvGeometry;

// The bias, f32, may be undefined. It is added before the sum is rounded, or to the rounded sum if
// no plan can do that.
bool CudnnForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  Tensor& y, StreamHandle stream);
bool CudnnBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                        StreamHandle stream);
// dw may be f32 with 16-bit x and dy. If cuDNN can then only write their type, dw is rounded to it
// once.
bool CudnnBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                         StreamHandle stream);

}  // namespace torus::cuda
