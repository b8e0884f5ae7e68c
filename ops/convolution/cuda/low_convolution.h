// What convolution in bf16 and f16 has of our own on a GPU: the stand-in for cuDNN, and what lies
// beside its products. Sums are f32, rounded once. In the current stream, which `stream` is.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cuda {

using ops::ConvGeometry;

// y += bias (o), which is f32; y may be f32, bf16 or f16.
void AddBias(const Tensor& bias, Tensor& y, StreamHandle stream);

// sum (o), f32, of the pixels of dy.
void SumLowPixels(const ConvGeometry& g, const Tensor& dy, Tensor& sum, StreamHandle stream);

// Depthwise ones from the operands where they lie, others by kernels of f32 from widened copies.
void LowForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                Tensor& y, StreamHandle stream);
void LowBackwardInput(const ConvGeometry& g, const Tensor& dy, const Tensor& weight, Tensor& dx,
                      StreamHandle stream);
void LowBackwardWeight(const ConvGeometry& g, const Tensor& x, const Tensor& dy, Tensor& dw,
                       StreamHandle stream);

}  // namespace torus::cuda
