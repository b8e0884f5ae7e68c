// The kernels of convolution, on the device of their tensors. Tensors are contiguous, f32 or f64,
// with the shapes of the geometry: x (n, h, w, c), weight (o, kh, kw, c / groups), bias (o) or
// undefined, y (n, oh, ow, o). If the device multiplies bf16 natively (a GPU also f16), x, weight,
// y and the gradients of x and y may have that type; sums, bias and the gradients of weight and
// bias are then f32, and the others are rounded once. A GPU may round more where cuDNN has no other
// engine: y before the bias is added, and the gradient of a weight, f32 as it is, to the 16-bit
// type (not that of a 1 x 1 convolution with stride 1 or of a depthwise one).
#pragma once

#include "autograd/observe_product.h"
#include "ops/convolution/conv_geometry.h"
#include "runtime/kernel_table.h"

namespace torus {

// y = the convolution of x, plus bias.
TORUS_PRODUCT_KERNEL(ConvolutionForward, "conv2d", y.device(),
                     (const ops::ConvGeometry& g, const Tensor& x, const Tensor& weight,
                      const Tensor& bias, Tensor& y),
                     (g, x, weight, bias, y), g.flops());

// The gradients with respect to x, weight and bias, overwritten; undefined ones are not computed.
TORUS_PRODUCT_KERNEL(ConvolutionBackward, "conv2d", dy.device(),
                     (const ops::ConvGeometry& g, const Tensor& x, const Tensor& weight,
                      const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias),
                     (g, x, weight, dy, dx, dweight, dbias),
                     g.flops() * (dx.defined() + dweight.defined()));

}  // namespace torus
