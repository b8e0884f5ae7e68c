// Softmax and its logarithm along one dimension, as torch.softmax and log_softmax.
//
// f32 or f64 of any strides. The row's largest value is subtracted first, so no finite input
// overflows; a row with NaN or infinity becomes NaN where PyTorch's does. BadInput for a dimension
// outside of the rank.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// exp(x_i) / sum_j exp(x_j)
Variable Softmax(const Variable& input, int64_t dim);

// x_i - log sum_j exp(x_j)
Variable LogSoftmax(const Variable& input, int64_t dim);

}  // namespace torus::ops
