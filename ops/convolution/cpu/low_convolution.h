// Convolution in bf16 on a CPU that multiplies it natively; ops/convolution/kernels.h has the
// contracts. A matrix product for 1 x 1, products by pixels for small images (small_image.h),
// oneDNN for the rest. Depthwise ones use the f32 kernels, since they multiply little compared with
// what they read.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cpu {

using ops::ConvGeometry;

void LowConvolutionForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                           const Tensor& bias, Tensor& y);
void LowConvolutionBackward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                            const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias);

}  // namespace torus::cpu
