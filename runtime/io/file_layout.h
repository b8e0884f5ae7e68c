// Converts tensors between their layout in memory and that of weight files, which is PyTorch's. No
// other code does.
#pragma once

#include "runtime/tensor.h"

namespace torus {

// Four-dimensional parameters are convolution weights: (O, kH, kW, I / groups) in memory, (O, I /
// groups, kH, kW) in a file. All others are the same in both. The same holds for tensors of a
// parameter's shape, such as its gradient and momentum. The results are views.
Tensor ToFileLayout(const Tensor& ours);
Tensor FromFileLayout(const Tensor& files);
Shape ToFileLayout(const Shape& ours);

}  // namespace torus
