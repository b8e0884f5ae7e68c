#include "ops/loss/margin_losses.h"

#include "ops/elementwise/cast.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/select.h"
#include "ops/loss/distance.h"
#include "ops/loss/reduce_variables.h"

namespace torus::ops {
namespace {

Variable Positive(const Variable& x) { return Clamp(x, 0.0, std::nullopt); }

// `losses` where the target is `label`, else 0; and the other way round.
Variable Of(double label, const Variable& losses, const Variable& target) {
  return MaskedFill(losses, Ne(target, label), 0);
}
Variable Except(double label, const Variable& losses, const Variable& target) {
  return MaskedFill(losses, Eq(target, label), 0);
}

// Also integers, of which unsigned ones have no -1.
Variable LabelsLike(const Variable& input, const Variable& target) {
  return Variable(target.data().To(input.dtype()));
}

}  // namespace

Variable MarginRankingLoss(const Variable& input1, const Variable& input2, const Variable& target,
                           double margin, LossReduction reduction) {
  constexpr const char* kOp = "margin_ranking_loss";
  RequireOneShape(kOp, "input1", input1, "input2", input2);
  RequireOneShape(kOp, "input1", input1, "target", target);
  const Variable signs = Cast(target, input1.dtype());
  return Reduce(Positive(Add(Mul(Neg(signs), Sub(input1, input2)), margin)), reduction);
}

// Another target than 1 and -1 gets both losses, as in PyTorch.
Variable HingeEmbeddingLoss(const Variable& input, const Variable& target, double margin,
                            LossReduction reduction) {
  RequireOneShape("hinge_embedding_loss", "input", input, "target", target);
  const Variable labels = LabelsLike(input, target);
  const Variable apart = Positive(Add(Neg(input), margin));
  return Reduce(Add(Except(1, apart, labels), Except(-1, input, labels)), reduction);
}

Variable CosineEmbeddingLoss(const Variable& input1, const Variable& input2, const Variable& target,
                             double margin, LossReduction reduction) {
  constexpr const char* kOp = "cosine_embedding_loss";
  constexpr double kLonger = 1e-12;
  RequireOneShape(kOp, "input1", input1, "input2", input2);
  RequireDefined(kOp, target);
  Require(target.rank() <= 1 && input1.rank() == target.rank() + 1 &&
              (target.rank() == 0 || target.dim(0) == input1.dim(0)),
          kOp, "needs inputs (N, D) and a target (N), or (D) and (), got {} and {}", input1.shape(),
          target.shape());
  const auto dot = [](const Variable& a, const Variable& b) { return Sum(Mul(a, b), {-1}); };
  const auto square = [&](const Variable& x) { return Add(dot(x, x), kLonger); };
  const Variable cosine = Div(dot(input1, input2), Sqrt(Mul(square(input1), square(input2))));
  const Variable labels = LabelsLike(input1, target);
  return Reduce(
      Add(Of(1, Add(Neg(cosine), 1.0), labels), Of(-1, Positive(Sub(cosine, margin)), labels)),
      reduction);
}

Variable TripletMarginLoss(const Variable& anchor, const Variable& positive,
                           const Variable& negative, const TripletMarginOptions& options) {
  constexpr const char* kOp = "triplet_margin_loss";
  RequireOneShape(kOp, "anchor", anchor, "positive", positive);
  RequireOneShape(kOp, "anchor", anchor, "negative", negative);
  Require(options.margin > 0, kOp, "margin must be positive, got {}", options.margin);
  const auto distance = [&](const Variable& a, const Variable& b) {
    return PairwiseDistance(a, b, options.p, options.eps);
  };
  Variable apart = distance(anchor, negative);
  if (options.swap) apart = Minimum(apart, distance(positive, negative));
  return Reduce(Positive(Add(Sub(distance(anchor, positive), apart), options.margin)),
                options.reduction);
}

}  // namespace torus::ops
