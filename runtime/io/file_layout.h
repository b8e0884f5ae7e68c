// The one place where tensors change between their layout in memory and that of files of weights,
// which is PyTorch's.
#pragma once

#include "runtime/tensor.h"

namespace torus {

// Four-dimensional parameters are convolution weights: (O, kH, kW, I / groups) in memory, (O, I /
// groups, kH, kW) in a file. All else is the same in both. So it holds for whatever has a
// parameter's shape: its gradient, its momentum. The results are views.
Tensor ToFileLayout(const Tensor& ours);
Tensor FromFileLayout(const Tensor& files);
Shape ToFileLayout(const Shape& ours);

}  // namespace torus
