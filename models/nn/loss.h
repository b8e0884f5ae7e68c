// The losses that models learn by.
#pragma once

#include <vector>

#include "autograd/variable.h"

namespace torus::nn {

// Of a classifier: mean cross entropy of outputs {logits (N, classes)} and classes (N), i64.
Variable ClassLoss(const std::vector<Variable>& outputs, const Tensor& targets);

// Of a language model: mean cross entropy over the places of `targets` (N, T), i64, that are not
// -100. Outputs are {logits (N, T, V)}, or of a model that leaves its last product to the loss
// {activation (N, T, width), weight (V, width)} and, where it has one, a bias (V): then the logits
// of all places never exist at once.
Variable NextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets);

// The same for targets of which most are -100: logits are computed for the other places alone.
Variable MaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets);

}  // namespace torus::nn
