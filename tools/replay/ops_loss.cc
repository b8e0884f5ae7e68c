// Softmax, and the losses made of it.
#include <algorithm>
#include <cmath>

#include "ops/dropout/dropout.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/math.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/ctc_loss.h"
#include "ops/loss/distance.h"
#include "ops/loss/margin_losses.h"
#include "ops/loss/mse_loss.h"
#include "ops/loss/probability_losses.h"
#include "ops/reduction/reduction.h"
#include "ops/softmax/softmax.h"
#include "ops/view/view.h"
#include "tools/replay/compare.h"
#include "tools/replay/op_table.h"
#include "tools/replay/promotion.h"

namespace torus::replay {
namespace {

std::vector<Variable> OfOneShape(const std::string& op, std::vector<Variable> in) {
  Shape shape;
  for (const Variable& v : in) shape = BroadcastShapes(op, shape, v.shape());
  for (Variable& v : in) v = ops::Expand(v, shape);
  return in;
}

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

// The arguments of a loss between real numbers, expanded to one shape, which PyTorch does with a
// warning and our ops refuse; `weight` is undefined if there is none.
struct RealLoss {
  explicit RealLoss(Arguments& a) {
    a.Take("input"), a.Take("target");
    const auto pair = OfOneShape(a.op(), a.PromotedFloats({"input", "target"}));
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
  OpRun Run(const Variable& loss) const { return {.outputs = {loss}, .terms = input.numel()}; }
  Variable input, target, weight;
  ops::LossReduction reduction;
};

// The weight is that of the input before it was expanded, and so is the divisor of a mean.
template <Variable (*kLoss)(const Variable&, const Variable&, ops::LossReduction, const Variable&)>
Variable OfExpandedInput(const RealLoss& of) {
  const Variable losses =
      ops::Mul(kLoss(of.input, of.target, ops::LossReduction::kNone, Variable()), of.weight);
  if (of.reduction == ops::LossReduction::kNone) return losses;
  const Variable sum = ops::Sum(losses);
  return of.reduction == ops::LossReduction::kSum ? sum : ops::Div(sum, ops::Sum(of.weight));
}

template <Variable (*kLoss)(const Variable&, const Variable&, ops::LossReduction, const Variable&)>
OpRun DistanceLoss(Arguments& a) {
  RealLoss of(a);
  of.TakeWeight(a);
  const bool expanded = of.weight.defined() && of.weight.shape() != of.input.shape();
  OpRun run = of.Run(expanded ? OfExpandedInput<kLoss>(of)
                              : kLoss(of.input, of.target, of.reduction, of.weight));
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
  const Variable weight =
      of.weight.defined() ? ops::Expand(of.weight, of.input.shape()) : of.weight;
  return of.Run(ops::HuberLoss(of.input, of.target, of.reduction, delta, weight));
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

// A loss of terms of size `term`, which may cancel.
OpRun TermsRun(const Variable& loss, int64_t terms, double term, bool mean) {
  return {.outputs = {loss},
          .terms = terms,
          .factors = {"weight"},
          .coefficient = term / (mean ? static_cast<double>(std::max<int64_t>(1, terms)) : 1)};
}

double LargestLog(const Variable& probabilities) {
  return LargestMagnitude(
      ops::Log(ops::Maximum(probabilities, Variable(Full({}, 1e-37, probabilities.dtype(),
                                                         probabilities.data().device()))))
          .data());
}

OpRun KlDiv(Arguments& a) {
  a.Take("input"), a.Take("target");
  const auto in = OfOneShape(a.op(), a.Promoted({"input", "target"}));
  const std::string reduction = a.attrs().Text("reduction", "mean");
  const bool log_target = a.attrs().Flag("log_target", false);
  const Variable loss = ops::KlDiv(in[0], in[1], ops::ParseKlReduction(reduction), log_target);
  const double target = LargestMagnitude(in[1].data()), input = LargestMagnitude(in[0].data());
  const double term = log_target ? LargestMagnitude(ops::Exp(in[1]).data()) * (1 + target + input)
                                 : target * (1 + LargestLog(in[1]) + input);
  return TermsRun(loss, in[0].numel(), term, reduction == "mean");
}

OpRun BinaryCrossEntropy(Arguments& a) {
  const Variable input = a.Take("input"), target = a.Take("target");
  const ops::LossReduction reduction =
      ops::ParseLossReduction(a.op(), a.attrs().Text("reduction", "mean"));
  return {
      .outputs = {ops::BinaryCrossEntropy(input, target, DataOf(a.Optional("weight")), reduction)},
      .terms = input.numel()};
}

OpRun GaussianNllLoss(Arguments& a) {
  const Variable input = a.Take("input"), target = a.Take("target"), var = a.Take("var");
  ops::GaussianNllOptions options{.full = a.attrs().Flag("full", false),
                                  .eps = a.attrs().Number("eps", 1e-6)};
  const std::string reduction = a.attrs().Text("reduction", "mean");
  options.reduction = ops::ParseLossReduction(a.op(), reduction);
  const Variable single = ops::GaussianNllLoss(
      input, target, var, {.eps = options.eps, .reduction = ops::LossReduction::kNone});
  return TermsRun(ops::GaussianNllLoss(input, target, var, options), input.numel(),
                  2 + LargestMagnitude(single.data()), reduction == "mean");
}

// Tensor arguments by name, of which the first may be called `input`, in one dtype.
std::vector<Variable> TakeAll(Arguments& a, std::vector<std::string> names) {
  if (a.Has("input")) names.front() = "input";
  for (const std::string& name : names) a.Take(name);
  return a.Promoted(names);
}

ops::LossReduction ReductionOf(Arguments& a) {
  return ops::ParseLossReduction(a.op(), a.attrs().Text("reduction", "mean"));
}

OpRun MarginRankingLoss(Arguments& a) {
  const auto in = OfOneShape(a.op(), TakeAll(a, {"input1", "input2", "target"}));
  const double margin = a.attrs().Number("margin", 0);
  return {.outputs = {ops::MarginRankingLoss(in[0], in[1], in[2], margin, ReductionOf(a))},
          .terms = in[0].numel()};
}

OpRun HingeEmbeddingLoss(Arguments& a) {
  const auto in = OfOneShape(a.op(), TakeAll(a, {"input", "target"}));
  const double margin = a.attrs().Number("margin", 1);
  const ops::LossReduction reduction = ReductionOf(a);
  return TermsRun(ops::HingeEmbeddingLoss(in[0], in[1], margin, reduction), in[0].numel(),
                  LargestMagnitude(in[0].data()) + std::fabs(margin),
                  reduction == ops::LossReduction::kMean);
}

// The gradient of a cosine is a difference of vectors as long as 1 over that of the input.
double LargestInverseLength(const Variable& x, int64_t dim, double least) {
  double largest = 0;
  for (const double square :
       ToVector<double>(ops::Sum(ops::Mul(x, x), {dim}).data().To(DType::kF64).Contiguous()))
    largest = std::max(largest, 1 / std::max(std::sqrt(square), least));
  return largest;
}

OpRun CosineSimilarity(Arguments& a) {
  const auto in = OfOneShape(a.op(), TakeAll(a, {"x1", "x2"}));
  const int64_t dim = a.attrs().Int("dim", 1);
  const double eps = a.attrs().Number("eps", 1e-8);
  return {.outputs = {ops::CosineSimilarity(in[0], in[1], dim, eps)},
          .terms = in[0].numel(),
          .least = Size(in[0], dim),
          .factors = {"weight"},
          .gradient_size = std::max(LargestInverseLength(in[0], dim, eps),
                                    LargestInverseLength(in[1], dim, eps))};
}

OpRun CosineEmbeddingLoss(Arguments& a) {
  const std::string first = a.Has("input") ? "input" : "input1";
  a.Take(first), a.Take("input2");
  const auto in = OfOneShape(a.op(), a.Promoted({first, "input2"}));
  const double margin = a.attrs().Number("margin", 0);
  constexpr double kLonger = 1e-6;  // the root of what the op adds to squared lengths
  return {
      .outputs = {ops::CosineEmbeddingLoss(in[0], in[1], a.Take("target"), margin, ReductionOf(a))},
      .terms = in[0].numel(),
      .least = Size(in[0], -1),
      .factors = {"weight"},
      .gradient_size = std::max(LargestInverseLength(in[0], -1, kLonger),
                                LargestInverseLength(in[1], -1, kLonger))};
}

// Of each vector the difference is rounded, which its norm magnifies by nothing.
OpRun PairwiseDistance(Arguments& a) {
  const auto in = OfOneShape(a.op(), TakeAll(a, {"x1", "x2"}));
  const double p = a.attrs().Number("p", 2), eps = a.attrs().Number("eps", 1e-6);
  return {
      .outputs = {ops::PairwiseDistance(in[0], in[1], p, eps, a.attrs().Flag("keepdim", false))},
      .terms = in[0].numel(),
      .least = Size(in[0], -1)};
}

OpRun TripletMarginLoss(Arguments& a) {
  const auto in = OfOneShape(a.op(), TakeAll(a, {"anchor", "positive", "negative"}));
  const ops::TripletMarginOptions options{.margin = a.attrs().Number("margin", 1),
                                          .p = a.attrs().Number("p", 2),
                                          .eps = a.attrs().Number("eps", 1e-6),
                                          .swap = a.attrs().Flag("swap", false),
                                          .reduction = ReductionOf(a)};
  const Variable distance = ops::PairwiseDistance(in[0], in[2], options.p, options.eps);
  OpRun run = TermsRun(ops::TripletMarginLoss(in[0], in[1], in[2], options), in[0].numel(),
                       LargestMagnitude(distance.data()) + options.margin,
                       options.reduction == ops::LossReduction::kMean);
  run.least = Size(in[0], -1);
  return run;
}

// Lengths are a tensor or a list.
Tensor Lengths(Arguments& a, const std::string& name) {
  if (a.Has(name)) return a.Take(name).data();
  const std::optional<std::vector<int64_t>> list = a.attrs().List(name);
  if (!list.has_value()) Throw<Unsupported>(a.op(), "without {}", name);
  return FromVector(*list, {static_cast<int64_t>(list->size())});
}

// Sums of logarithms of one sign over the frames, each rounded on the scale of the whole.
OpRun CtcLoss(Arguments& a) {
  const Variable log_probs = a.Take(a.Has("input") ? "input" : "log_probs");
  const Tensor targets = a.Take("targets").data();
  const ops::CtcLossOptions options{.blank = a.attrs().Int("blank", 0),
                                    .reduction = ReductionOf(a),
                                    .zero_infinity = a.attrs().Flag("zero_infinity", false)};
  const int64_t frames = std::max<int64_t>(1, log_probs.dim(0));
  return {
      .outputs = {ops::CtcLoss(log_probs, targets, Lengths(a, "input_lengths"),
                               Lengths(a, "target_lengths"), options)},
      .terms = log_probs.numel(),
      .least = frames,
      .factors = {"weight"},
      .coefficient = std::sqrt(static_cast<double>(frames)) * LargestMagnitude(log_probs.data())};
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
  table["kl_div"] = KlDiv;
  table["binary_cross_entropy"] = BinaryCrossEntropy;
  table["gaussian_nll_loss"] = GaussianNllLoss;
  table["margin_ranking_loss"] = MarginRankingLoss;
  table["hinge_embedding_loss"] = HingeEmbeddingLoss;
  table["cosine_embedding_loss"] = CosineEmbeddingLoss;
  table["cosine_similarity"] = CosineSimilarity;
  table["pairwise_distance"] = PairwiseDistance;
  table["triplet_margin_loss"] = TripletMarginLoss;
  table["ctc_loss"] = CtcLoss;
}

}  // namespace torus::replay
