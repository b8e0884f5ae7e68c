// Softmax, and the losses made of it.
#include <algorithm>
#include <cmath>

#include "ops/dropout/dropout.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/mse_loss.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"
#include "ops/view/view.h"
#include "tools/replay/compare.h"
#include "tools/replay/op_table.h"
#include "tools/replay/promotion.h"

namespace torus::replay {
namespace {

int64_t Size(const Variable& x, int64_t dim) {
  return x.rank() == 0 ? 1 : x.dim(NormalizeDim("replay", dim, x.rank()));
}

// PyTorch's choice where the dimension is None (torch.nn.functional._get_softmax_dim).
int64_t ImplicitDim(int rank) { return rank == 0 || rank == 1 || rank == 3 ? 0 : 1; }

template <Variable (*kOp)(const Variable&, int64_t)>
OpRun AlongDim(Arguments& a) {
  const Variable input = a.TakeAsDType("input");
  const int64_t dim = a.attrs().Int("dim", ImplicitDim(input.rank()));
  return {.outputs = {kOp(input, dim)}, .least = Size(input, dim)};
}

// The gradient is y times the difference of the seed and the seeds' mean under y, which may cancel.
OpRun Softmax(Arguments& a) {
  OpRun run = AlongDim<ops::Softmax>(a);
  const double root = std::sqrt(static_cast<double>(std::max<int64_t>(1, run.least)));
  run.gradient_size = LargestMagnitude(run.outputs[0].data()) / root;
  return run;
}

ops::NllLossOptions Options(Arguments& a) {
  ops::NllLossOptions options;
  if (const Variable weight = a.Optional("weight"); weight.defined())
    options.weight = weight.data();
  options.ignore_index = a.attrs().Int("ignore_index", options.ignore_index);
  options.reduction = ops::ParseLossReduction(a.op(), a.attrs().Text("reduction", "mean"));
  return options;
}

// The magnitude of the mean's divisor, in which weights of both signs may nearly cancel.
double Divisor(const Variable& target, const ops::NllLossOptions& options) {
  if (options.reduction != ops::LossReduction::kMean) return 1;
  if (IsFloating(target.dtype()) || !options.weight.defined())
    return static_cast<double>(std::max<int64_t>(1, target.numel()));
  const std::vector<double> weight = ToVector<double>(options.weight.To(DType::kF64).Contiguous());
  double sum = 0;
  for (const int64_t t : ToVector<int64_t>(target.data().To(DType::kI64).Contiguous()))
    if (t != options.ignore_index && t >= 0 && t < static_cast<int64_t>(weight.size()))
      sum += weight[static_cast<size_t>(t)];
  return std::fabs(sum);
}

// A loss sums terms of at most `log_probability`, times weights, divided by the divisor.
OpRun LossRun(const Variable& loss, const Variable& input, const Variable& target,
              const ops::NllLossOptions& options, double log_probability) {
  return {.outputs = {loss},
          .terms = input.numel(),
          .least = Size(input, input.rank() > 1 ? 1 : 0),
          .factors = {"weight"},
          .coefficient = log_probability / Divisor(target, options)};
}

OpRun NllLoss(Arguments& a) {
  const Variable input = a.Take("input"), target = a.Take("target");
  const ops::NllLossOptions options = Options(a);
  return LossRun(ops::NllLoss(input, target, options), input, target, options,
                 LargestMagnitude(input.data()));
}

OpRun CrossEntropy(Arguments& a) {
  const Variable input = a.Take("input"), target = a.Take("target");
  ops::CrossEntropyOptions options = Options(a);
  options.label_smoothing = a.attrs().Number("label_smoothing", 0);
  const double classes = static_cast<double>(Size(input, input.rank() > 1 ? 1 : 0));
  const double log_probability =
      2 * LargestMagnitude(input.data()) + std::log(std::max(1.0, classes));
  return LossRun(ops::CrossEntropy(input, target, options), input, target, options,
                 log_probability);
}

// The arguments of a loss between real numbers; `weight` is undefined if there is none.
struct RealLoss {
  explicit RealLoss(Arguments& a) {
    a.Take("input"), a.Take("target");
    const auto pair = a.PromotedFloats({"input", "target"});
    input = pair[0], target = pair[1];
    reduction = ops::ParseLossReduction(a.op(), a.attrs().Text("reduction", "mean"));
  }
  // In the dtype of the others, which a wider weight would widen in PyTorch.
  void TakeWeight(Arguments& a) {
    const Variable given = a.Optional("weight");
    if (!given.defined()) return;
    weight = Promote({{input}, {given}})[1];
    if (weight.dtype() != input.dtype())
      Throw<Unsupported>(a.op(), "a weight of {} for {}", Name(weight.dtype()),
                         Name(input.dtype()));
  }
  OpRun Run(const Variable& loss) const {
    return {.outputs = {loss}, .terms = std::max(input.numel(), target.numel())};
  }
  Variable input, target, weight;
  ops::LossReduction reduction;
};

template <Variable (*kLoss)(const Variable&, const Variable&, ops::LossReduction, const Variable&)>
OpRun DistanceLoss(Arguments& a) {
  RealLoss of(a);
  of.TakeWeight(a);
  OpRun run = of.Run(kLoss(of.input, of.target, of.reduction, of.weight));
  // The gradient of a mean's weight is the difference of loss and mean, over the weights' sum.
  if (of.weight.defined() && of.reduction == ops::LossReduction::kMean) {
    const Variable losses = kLoss(of.input, of.target, ops::LossReduction::kNone, Variable());
    run.gradient_size =
        LargestMagnitude(losses.data()) / std::fabs(ops::Sum(of.weight).data().Item());
  }
  return run;
}

OpRun HuberLoss(Arguments& a) {
  RealLoss of(a);
  of.TakeWeight(a);
  const double delta = a.attrs().Number("delta", 1);
  return of.Run(ops::HuberLoss(of.input, of.target, of.reduction, delta, of.weight));
}

OpRun SmoothL1Loss(Arguments& a) {
  const RealLoss of(a);
  const double beta = a.attrs().Number("beta", 1);
  return of.Run(ops::SmoothL1Loss(of.input, of.target, of.reduction, beta));
}

Tensor DataOf(const Variable& optional) { return optional.defined() ? optional.data() : Tensor(); }

OpRun BinaryCrossEntropyWithLogits(Arguments& a) {
  const Variable input = a.Take("input"), target = a.Take("target");
  ops::BinaryCrossEntropyOptions options{.weight = DataOf(a.Optional("weight")),
                                         .pos_weight = DataOf(a.Optional("pos_weight"))};
  options.reduction = ops::ParseLossReduction(a.op(), a.attrs().Text("reduction", "mean"));
  // log sigmoid is at most |x| + log 2, and weights of both signs may cancel.
  return {.outputs = {ops::BinaryCrossEntropyWithLogits(input, target, options)},
          .terms = input.numel(),
          .factors = {"weight", "pos_weight"},
          .coefficient = (LargestMagnitude(input.data()) + 1) /
                         (options.reduction == ops::LossReduction::kMean
                              ? static_cast<double>(std::max<int64_t>(1, input.numel()))
                              : 1)};
}

// If it drops values it is random, and no two frameworks agree.
OpRun Dropout(Arguments& a) {
  const double p = a.attrs().Number("p", 0.5);
  StepContext ctx;
  ctx.training = a.attrs().Flag("training", true);
  if (a.attrs().Flag("inplace", false)) Throw<Unsupported>(a.op(), "in place");
  if (ctx.training && p > 0 && p < 1) Throw<Unsupported>(a.op(), "random numbers");
  const Variable input = a.Take("input");
  ctx.samples = {0};
  // A sample is a row; PyTorch takes a scalar too.
  const Variable rows = input.rank() == 0 ? ops::Reshape(input, {1}) : input;
  return {.outputs = {ops::Reshape(ops::Dropout(rows, p, ctx, 0), input.shape())}};
}

}  // namespace

void AddLosses(OpTable& table) {
  table["softmax"] = Softmax;
  table["log_softmax"] = AlongDim<ops::LogSoftmax>;
  table["nll_loss"] = NllLoss;
  table["cross_entropy"] = CrossEntropy;
  table["mse_loss"] = DistanceLoss<ops::MseLoss>;
  table["l1_loss"] = DistanceLoss<ops::L1Loss>;
  table["smooth_l1_loss"] = SmoothL1Loss;
  table["huber_loss"] = HuberLoss;
  table["binary_cross_entropy_with_logits"] = BinaryCrossEntropyWithLogits;
  table["dropout"] = Dropout;
}

}  // namespace torus::replay
