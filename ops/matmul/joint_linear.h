// Several linear layers of one input, as query, key and value of attention are.
#pragma once

#include <vector>

#include "autograd/variable.h"

namespace torus::ops {

// Linear(input, weights[i], biases[i]) for each i: input (..., in), weights (out_i, in), biases
// (out_i), all undefined or none. A GPU that computes in 16 bits makes one product of it if the
// weights are leaves that are trained: its results are then parts of one tensor (..., sum of
// out_i), and so are copies of the weights (autograd/low_copy.h) and the gradients. Throws BadInput
// as Linear does, and if the numbers of weights and biases differ.
std::vector<Variable> JointLinear(const Variable& input, const std::vector<Variable>& weights,
                                  const std::vector<Variable>& biases);

}  // namespace torus::ops
