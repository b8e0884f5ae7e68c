// Convolution on a CPU; ops/convolution/kernels.h has the contracts. float: a matrix product for 1
// x 1, a special kernel for depthwise ones, dense.h for the rest.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cpu {

using ops::ConvGeometry;

void ConvolutionForward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, Tensor& y);
void ConvolutionBackward(const ConvGeometry& g, const Tensor& x, const Tensor& weight,
                         const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias);

}  // namespace torus::cpu
