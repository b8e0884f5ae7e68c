// Activation functions, element by element, as in torch.nn.functional.
//
// Inputs have any floating dtype, of which 16 bits are computed in f32 and rounded once, and any
// strides; results are contiguous. Throws BadInput tagged with the op for another dtype.
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

Variable Sigmoid(const Variable& input);     // 1 / (1 + exp(-x))
Variable LogSigmoid(const Variable& input);  // log(sigmoid(x)) without overflow
Variable Tanh(const Variable& input);        // the hyperbolic tangent

// x * sigmoid(x)
Variable Silu(const Variable& input);

// x * Phi(x) with approximate "none"; its tanh approximation with "tanh". Throws BadInput for other
// names. At minus infinity it is NaN, and so is the gradient at both infinities, as the formulas
// say and PyTorch's kernels for CPUs and GPUs give.
Variable Gelu(const Variable& input, std::string_view approximate = "none");

// alpha * (exp(x) - 1) where x <= 0, else x.
Variable Elu(const Variable& input, double alpha = 1);

// The same times a scale of 1.0507..., with alpha 1.6732..., so that activations keep mean 0 and
// variance 1 (Klambauer et al. 2017).
Variable Selu(const Variable& input);

// alpha * (exp(x / alpha) - 1) where x <= 0, else x. Throws BadInput if alpha is 0.
Variable Celu(const Variable& input, double alpha = 1);

// x * tanh(log(1 + exp(x)))
Variable Mish(const Variable& input);

// min(max(x + 3, 0), 6) / 6, and x times that.
Variable Hardsigmoid(const Variable& input);
Variable Hardswish(const Variable& input);

// x / (1 + |x|)
Variable Softsign(const Variable& input);

// x where it is above the threshold, else `value`. NaN stays NaN.
Variable Threshold(const Variable& input, double threshold, double value);

// x where positive, else weight * x. The weight has one element, or one for each channel: channels
// are the last dimension here, where PyTorch has them second.
Variable Prelu(const Variable& input, const Variable& weight);

// a * sigmoid(b), where a and b are the two halves of the input along `dim` (Dauphin et al. 2017).
// Throws BadInput if its size is odd.
Variable Glu(const Variable& input, int64_t dim = -1);

// log(1 + exp(beta x)) / beta; x itself where beta * x > threshold. Throws BadInput if beta is 0.
Variable Softplus(const Variable& input, double beta = 1, double threshold = 20);

}  // namespace torus::ops
