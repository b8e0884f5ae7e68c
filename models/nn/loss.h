// Loss functions of the models.
#pragma once

#include <vector>

#include "autograd/variable.h"
#include "runtime/tensor_ranks.h"

namespace torus::nn {

// The loss of a classifier: mean cross entropy of outputs {logits (N, classes)} and classes (N),
// i64.
Variable ClassLoss(const std::vector<Variable>& outputs, const Tensor& targets);

// The loss of a language model: mean cross entropy over the positions of `targets` (N, T), i64,
// that are not -100. Outputs are {logits (N, T, V)}, or, from a model that leaves its last product
// to the loss, {activation (N, T, width), weight (V, width)} and a bias (V) if it has one. The
// logits of all positions then never exist at once.
Variable NextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets);

// The same for targets that are mostly -100: computes logits only for the other positions.
Variable MaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets);

// The losses above with label smoothing: the share `smoothing` of each target's probability is
// spread evenly over all classes or tokens (Szegedy et al. 2016, "Rethinking the Inception
// architecture for computer vision", section 7), as torch.nn.CrossEntropyLoss does. Of classes, or
// of a language model's positions that are not -100, whichever its task; the logits of all
// positions never exist at once either.
Variable SmoothClassLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                         double smoothing);
Variable SmoothTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                         double smoothing);

// The losses of tokens for a vocabulary that is split over tensor-parallel ranks. Outputs are
// {activation, this rank's rows of the weight, VocabularyPart} and this rank's part of the bias, if
// there is one. The loss is the same on all ranks (ops::CrossEntropyOfPart).
Variable SplitNextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                            const TensorRanks& ranks);
Variable SplitMaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                              const TensorRanks& ranks);

// This rank's part of the vocabulary: its first token, and the number of tokens on all ranks; (2),
// i64, on the CPU.
Variable VocabularyPart(int64_t vocabulary, const TensorPlace& place);
// Throws BadInput tagged `where` unless each rank gets at least one token and `head_in_loss` is
// true.
void CheckVocabularySplit(const char* where, int64_t vocabulary, const TensorPlace& place,
                          bool head_in_loss);

}  // namespace torus::nn
