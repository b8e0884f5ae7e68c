// Our own kernels for convolution in bf16 and f16 on a GPU: the fallback for cuDNN, and the bias,
// which is not part of its products. Sums are f32, rounded once. `stream` must be the current
// stream.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cuda {

using ops::ConvGeometry;

// y += bias (o), which is f32; y may be f32, bf16 or f16.
void AddBias(const Tensor& bias, Tensor& y, StreamHandle stream);

// sum (o), f32, = the sum over the pixels of dy.
void SumLowPixels(const ConvGeometry& g, const Tensor& dy, Tensor& sum, StreamHandle stream);

// Depthwise convolutions read the operands directly; others run f32 kernels on widened copies.
void LowForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                Tensor& y, StreamHandle stream);
void LowBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                      StreamHandle stream);
void LowBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                       StreamHandle stream);

}  // namespace torus::cuda
