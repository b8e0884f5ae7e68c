// Convolution in bf16 on a CPU that has products of it; ops/convolution/kernels.h has the
// contracts. A product of matrices for 1 x 1, products by pixels for small images (small_image.h),
// oneDNN for the rest. Depthwise ones multiply little for what they read: theirs are the kernels of
// f32.
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
