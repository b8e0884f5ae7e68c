// Tensors as text, as PyTorch prints them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// PyTorch's text of a tensor with its default options, `tensor([[1.0000, 2.5000]])`, but with the
// names of types and devices used here: 4 digits; scientific where elements differ by more than a
// factor of 1000, exceed 1e8 or fall below 1e-4; beyond 1000 elements the first and last 3 of each
// dimension; lines of 80 columns. The dtype follows unless it is f32, i64 or bool, the device
// unless it is the CPU, the shape where no elements tell it; then `suffixes`. Copies what it prints
// to the CPU. An undefined tensor is "an undefined tensor".
std::string ToString(const Tensor& tensor, std::vector<std::string> suffixes = {});

// ToString, and the type, shape and device behind it:
// tensor([1., 2.])  [f32 (2) on cpu]
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace torus
