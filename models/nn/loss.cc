#include "models/nn/loss.h"

#include "ops/elementwise/elementwise.h"
#include "ops/indexing/indexing.h"
#include "ops/loss/class_targets.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/linear_cross_entropy.h"
#include "ops/matmul/linear.h"
#include "ops/reduction/reduction.h"
#include "ops/tensor_parallel/rank_sums.h"
#include "ops/tensor_parallel/vocabulary.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

// Cross entropy with one row of logits, or one activation, per position.
Variable TokenLoss(const Variable& rows, const std::vector<Variable>& outputs,
                   const Variable& targets) {
  if (outputs.size() == 1) return ops::CrossEntropy(rows, targets);
  const Variable bias = outputs.size() > 2 ? outputs[2] : Variable();
  return ops::LinearCrossEntropy(rows, outputs[1], bias, targets);
}

// The same for a part of the vocabulary.
Variable SplitTokenLoss(const Variable& rows, const std::vector<Variable>& outputs,
                        const Variable& targets, const TensorRanks& ranks) {
  Require(outputs.size() == 3 || outputs.size() == 4, "loss",
          "needs the outputs of a split head, three or four, got {}", outputs.size());
  const std::vector<int64_t> part = ToVector<int64_t>(outputs[2].data());
  const Variable bias = outputs.size() > 3 ? outputs[3] : Variable();
  const Variable logits = ops::Linear(ops::CopyToRanks(rows, ranks), outputs[1], bias);
  return ops::CrossEntropyOfPart(logits, targets, {part[0], part[1]}, ranks);
}

Variable RowsOf(const Variable& output, const Tensor& targets) {
  return ops::Reshape(output, {targets.numel(), output.dim(-1)});
}

// Rows and numbers of the targets that count.
struct MaskedRows {
  Variable rows, targets;
};

MaskedRows MaskedOf(const Variable& output, const Tensor& targets) {
  const ops::CountedTargets counted = ops::FindCounted({targets.To(DType::kI64).Contiguous()});
  return {ops::IndexSelect(RowsOf(output, targets), 0, Variable(counted.places)),
          Variable(counted.numbers)};
}

}  // namespace

Variable ClassLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  return ops::CrossEntropy(outputs[0], Variable(targets));
}

Variable NextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  return TokenLoss(RowsOf(outputs[0], targets), outputs, Variable(targets.Reshape({-1})));
}

Variable MaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets) {
  const MaskedRows masked = MaskedOf(outputs[0], targets);
  return TokenLoss(masked.rows, outputs, masked.targets);
}

Variable SmoothClassLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                         double smoothing) {
  return ops::CrossEntropy(outputs[0], Variable(targets), {.label_smoothing = smoothing});
}

// By its logits z, (1 - s) (-log p_t) + s mean_c (-log p_c) = -log p_t + s (z_t - mean_c z_c), and
// the mean of the logits is a product with the mean of the weight's rows.
Variable SmoothTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                         double smoothing) {
  const MaskedRows counted = MaskedOf(outputs[0], targets);
  if (outputs.size() == 1)
    return ops::CrossEntropy(counted.rows, counted.targets, {.label_smoothing = smoothing});
  const auto above_mean = [&](const Variable& of_tokens) {
    return ops::Sub(ops::IndexSelect(of_tokens, 0, counted.targets),
                    ops::Mean(of_tokens, {0}, true));
  };
  Variable excess = ops::Sum(ops::Mul(counted.rows, above_mean(outputs[1])), {1});
  if (outputs.size() > 2) excess = ops::Add(excess, above_mean(outputs[2]));
  return ops::Add(TokenLoss(counted.rows, outputs, counted.targets),
                  ops::Mul(ops::Mean(excess), smoothing));
}

Variable SplitNextTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                            const TensorRanks& ranks) {
  return SplitTokenLoss(RowsOf(outputs[0], targets), outputs, Variable(targets.Reshape({-1})),
                        ranks);
}

Variable SplitMaskedTokenLoss(const std::vector<Variable>& outputs, const Tensor& targets,
                              const TensorRanks& ranks) {
  const MaskedRows masked = MaskedOf(outputs[0], targets);
  return SplitTokenLoss(masked.rows, outputs, masked.targets, ranks);
}

Variable VocabularyPart(int64_t vocabulary, const TensorPlace& place) {
  return Variable(FromVector<int64_t>({PartOf(vocabulary, place).begin, vocabulary}, {2}));
}

void CheckVocabularySplit(const char* where, int64_t vocabulary, const TensorPlace& place,
                          bool head_in_loss) {
  Require(place.size <= vocabulary, where,
          "{} tensor-parallel ranks (--tensor) need a token each, got a vocabulary of {}",
          place.size, vocabulary);
  Require(head_in_loss, where, "a head on {} tensor-parallel ranks must be left to the loss",
          place.size);
}

}  // namespace torus::nn
