// The kernels of convolution, on the device of their tensors. Tensors are contiguous, f32 or f64,
// with the shapes of the geometry: x (n, h, w, c), weight (o, kh, kw, c / groups), bias (o) or
// undefined, y (n, oh, ow, o). If the device multiplies bf16 natively (a GPU also f16), x, weight,
// y and the gradients of x and y may have that type; sums, bias and the gradients of weight and
// bias are then f32, and the others are rounded once. A GPU may round more where cuDNN has no other
// engine: y before the bias is added, and the gradient of a weight, f32 as it is, to the 16-bit
// type (not that of a 1 x 1 convolution with stride 1 or of a depthwise one).
#pragma once

#include "autograd/op_observer.h"
#include "ops/convolution/conv_geometry.h"
#include "ops/convolution/cpu/convolution.h"
#include "ops/convolution/cuda/convolution.h"
#include "runtime/gpu_door.h"

namespace torus::kernels {

// y = the convolution of x, plus bias.
inline void ConvolutionForward(const ops::ConvGeometry& g, const Tensor& x, const Tensor& weight,
                               const Tensor& bias, Tensor& y) {
  ObserveProduct(g.flops());
  AtDoor(
      "conv2d", y.device(), [&] { cpu::ConvolutionForward(g, x, weight, bias, y); },
      [&](StreamHandle stream) { cuda::ConvolutionForward(g, x, weight, bias, y, stream); });
}

// The gradients with respect to x, weight and bias, overwritten; undefined ones are not computed.
inline void ConvolutionBackward(const ops::ConvGeometry& g, const Tensor& x, const Tensor& weight,
                                const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias) {
  for (const Tensor* gradient : {&dx, &dweight})
    if (gradient->defined()) ObserveProduct(g.flops());
  AtDoor(
      "conv2d", dy.device(),
      [&] { cpu::ConvolutionBackward(g, x, weight, dy, dx, dweight, dbias); },
      [&](StreamHandle stream) {
        cuda::ConvolutionBackward(g, x, weight, dy, dx, dweight, dbias, stream);
      });
}

}  // namespace torus::kernels
