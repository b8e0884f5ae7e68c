// The losses that models learn by.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "runtime/tensor_ranks.h"

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

// Both of a model whose vocabulary is split over several ranks. Outputs are {activation, this
// rank's rows of the weight, VocabularyPart} and, where there is one, this rank's part of the bias;
// the loss is the same on all ranks (ops::CrossEntropyOfPart).
Variable SplitNextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                            const TensorRanks& ranks);
Variable SplitMaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                              const TensorRanks& ranks);

// What the head of such a model says beside its part of the weight: the first token of that part,
// and how many tokens there are in all; (2), i64, in a CPU's memory.
Variable VocabularyPart(int64_t vocabulary, const TensorPlace& place);
// BadInput tagged `where` unless each rank gets a token, and the head is left to the loss.
void CheckVocabularySplit(const char* where, int64_t vocabulary, const TensorPlace& place,
                          bool head_in_loss);

}  // namespace torus::nn
