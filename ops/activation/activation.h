// Activation functions, element by element, as in torch.nn.functional.
//
// Inputs are f32 or f64 with any strides; results are contiguous. Throws BadInput tagged with the
// op for another dtype.
#pragma once

#include <string_view>

#include "autograd/variable.h"

namespace torus::ops {

// max(x, 0); gradient 0 at 0. NaN stays NaN.
Variable Relu(const Variable& input);

// min(max(x, 0), 6); gradient 0 at both ends.
Variable Relu6(const Variable& input);

// min(max(x, min_val), max_val); gradient 0 at both ends. Throws BadInput if min_val > max_val.
Variable Hardtanh(const Variable& input, double min_val = -1, double max_val = 1);

// x where positive, else negative_slope * x.
Variable LeakyRelu(const Variable& input, double negative_slope = 0.01);

Variable Sigmoid(const Variable& input);
Variable LogSigmoid(const Variable& input);  // log(sigmoid(x)) without overflow
Variable Tanh(const Variable& input);

// x * sigmoid(x)
Variable Silu(const Variable& input);

// x * Phi(x) with approximate "none"; its tanh approximation with "tanh". Throws BadInput for other
// names. At minus infinity it is NaN, and so is the gradient at both infinities, as the formulas
// say and PyTorch's kernels for CPUs and GPUs give.
Variable Gelu(const Variable& input, std::string_view approximate = "none");

// log(1 + exp(beta x)) / beta; x itself where beta * x > threshold. Throws BadInput if beta is 0.
Variable Softplus(const Variable& input, double beta = 1, double threshold = 20);

}  // namespace torus::ops
