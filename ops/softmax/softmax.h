// Softmax and its logarithm along one dimension, as torch.softmax and log_softmax.
//
// Inputs are f32 or f64 with any strides. The largest value of a row is subtracted first, so finite
// inputs cannot overflow. Rows with NaN or infinity give NaN where PyTorch does. Throws BadInput
// for a dimension outside of the rank.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// exp(x_i) / sum_j exp(x_j)
Variable Softmax(const Variable& input, int64_t dim);

// x_i - log sum_j exp(x_j)
Variable LogSoftmax(const Variable& input, int64_t dim);

}  // namespace torus::ops
