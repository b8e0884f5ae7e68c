// Convolution on a GPU; ops/convolution/kernels.h has the contracts. Tries cuDNN first, else uses
// our own kernels: depthwise.h for one filter per channel, dense.h for the rest, and
// low_convolution.h on top of both for bf16 and f16.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/tensor.h"

namespace torus::cuda {

void ConvolutionForward(const ops::ConvGeometry& g, const Tensor& x, const Tensor& weight,
                        const Tensor& bias, Tensor& y, StreamHandle stream);
void ConvolutionBackward(const ops::ConvGeometry& g, const Tensor& x, const Tensor& weight,
                         const Tensor& dy, Tensor& dx, Tensor& dweight, Tensor& dbias,
                         StreamHandle stream);

}  // namespace torus::cuda
