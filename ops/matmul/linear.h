// The affine map of a linear layer, as torch.nn.functional.linear.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// input (..., in), weight (out, in), bias (out) or undefined; result (..., out) = input weight^T +
// bias. As in PyTorch, a weight (in) without bias gives (...). f32 or f64, all of one dtype, any
// strides. Throws BadInput for sizes that do not fit.
Variable Linear(const Variable& input, const Variable& weight, const Variable& bias = {});

// The same with a weight (in, out), as GPT-2 stores it: input weight + bias. Never copies the
// weight or its gradient to transpose it.
Variable LinearInOut(const Variable& input, const Variable& weight, const Variable& bias = {});

}  // namespace torus::ops
