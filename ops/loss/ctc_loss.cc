#include "ops/loss/ctc_loss.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/select.h"
#include "ops/loss/kernels.h"
#include "ops/loss/reduce_variables.h"
#include "ops/precision/in_precision.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "ctc_loss";

using Numbers = std::vector<int64_t>;

void CheckIntegers(const char* name, const Tensor& t) {
  Require(t.defined() && !IsFloating(t.dtype()) && t.dtype() != DType::kBool, kOp,
          "{} must be integers, got {}", name, t);
}

void CheckShapes(const Variable& x, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, int64_t blank) {
  Require(x.rank() == 3, kOp, "log_probs must be (T, N, C) or (T, C), got {}", x.shape());
  CheckIntegers("targets", targets);
  CheckIntegers("input_lengths", input_lengths);
  CheckIntegers("target_lengths", target_lengths);
  const Shape sequences{x.dim(1)};
  Require(input_lengths.shape() == sequences && target_lengths.shape() == sequences, kOp,
          "lengths must be {}, got {} and {}", sequences, input_lengths.shape(),
          target_lengths.shape());
  Require(targets.rank() == 1 || (targets.rank() == 2 && targets.dim(0) == x.dim(1)), kOp,
          "targets must be (N, S) of {} sequences or all labels in one dimension, got {}", x.dim(1),
          targets.shape());
  Require(blank >= 0 && blank < x.dim(2), kOp, "blank must be one of {} classes, got {}", x.dim(2),
          blank);
}

void CheckLengths(const char* name, const Numbers& lengths, int64_t most) {
  for (const int64_t length : lengths)
    Require(length >= 0 && length <= most, kOp, "{} must be in [0, {}], got {}", name, most,
            length);
}

void CheckLabels(const Numbers& labels, int64_t start, int64_t count, int64_t classes) {
  for (int64_t i = start; i < start + count; ++i) {
    const int64_t label = labels[static_cast<size_t>(i)];
    Require(label >= 0 && label < classes, kOp, "label {} at position {} is none of {} classes",
            label, i, classes);
  }
}

Numbers OnCpu(const Tensor& t) { return ToVector<int64_t>(t.To(DType::kI64).Contiguous()); }

bool HasMeta(const CtcProblem& p) {
  const auto is = [](const Tensor& t) { return t.device() == kMetaDevice; };
  return is(p.targets) || is(p.input_lengths) || is(p.target_lengths);
}

// Sets `starts` and `longest`. On the meta device, which has no lengths, as if all were whole.
void FindLabels(const Tensor& targets, int64_t frames, int64_t classes, CtcProblem& p) {
  const bool padded = targets.rank() == 2;
  if (HasMeta(p)) {
    p.longest = targets.dim(-1);
    p.starts = p.target_lengths;
    return;
  }
  const Numbers labels = OnCpu(targets), lengths = OnCpu(p.target_lengths);
  CheckLengths("input_lengths", OnCpu(p.input_lengths), frames);
  CheckLengths("target_lengths", lengths, targets.dim(-1));
  Numbers starts;
  int64_t next = 0;
  for (const int64_t length : lengths) {
    const int64_t start = padded ? static_cast<int64_t>(starts.size()) * targets.dim(1) : next;
    next = start + length;
    Require(next <= targets.numel(), kOp, "target_lengths add up to more than the {} targets",
            targets.numel());
    CheckLabels(labels, start, length, classes);
    starts.push_back(start);
    p.longest = std::max(p.longest, length);
  }
  Require(padded || next == targets.numel(), kOp, "target_lengths add up to {}, targets are {}",
          next, targets.numel());
  p.starts = FromVector(starts, {static_cast<int64_t>(starts.size())});
}

CtcProblem ProblemOf(const Variable& x, const Tensor& targets, const Tensor& input_lengths,
                     const Tensor& target_lengths, const CtcLossOptions& options) {
  CheckShapes(x, targets, input_lengths, target_lengths, options.blank);
  CtcProblem p{.log_probs = x.data().Contiguous(),
               .targets = targets,
               .input_lengths = input_lengths,
               .target_lengths = target_lengths,
               .blank = options.blank,
               .zero_infinity = options.zero_infinity};
  FindLabels(targets, x.dim(0), x.dim(2), p);
  const Device device = HasMeta(p) ? kMetaDevice : x.data().device();
  p.log_probs = p.log_probs.To(device);
  for (Tensor* t : {&p.targets, &p.starts, &p.input_lengths, &p.target_lengths})
    *t = t->To(DType::kI64).To(device).Contiguous();
  return p;
}

// (N), infinite where no path has the target's labels.
Variable LossesOf(const CtcProblem& p, const Variable& x) {
  const int64_t frames = x.dim(0), count = x.dim(1);
  const Device device = p.log_probs.device();
  Tensor alpha({count, frames, p.states()}, x.dtype(), device), loss({count}, x.dtype(), device);
  kernels::CtcLoss(p, alpha, loss);
  CtcProblem kept = p;
  kept.log_probs = Tensor();  // saved apart, with its version
  return Record("ctc_loss", loss, {x},
                [kept, x = Saved(p.log_probs), alpha = Saved(alpha),
                 loss = Saved(loss)](const GradContext& g) {
                  CtcProblem p = kept;
                  p.log_probs = x.get();
                  Tensor dx(p.log_probs.shape(), p.log_probs.dtype(), p.log_probs.device());
                  kernels::CtcLossBackward(p, alpha.get(), loss.get(), g.grad(), dx);
                  return Gradients{dx};
                });
}

Variable Reduced(const CtcProblem& p, const Variable& losses, const CtcLossOptions& options) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Variable counted = losses;
  if (options.zero_infinity)
    counted = MaskedFill(
        losses, Variable(ApplyCompare(kOp, CompareOp::kEqual, losses.data(), kInfinity)), 0);
  if (options.reduction != LossReduction::kMean) return Reduce(counted, options.reduction);
  const Tensor lengths = p.target_lengths.To(losses.dtype());
  return Mean(Div(counted, Variable(ApplyBinary(kOp, BinaryOp::kMaximum, lengths, 1.0))));
}

Variable OfBatch(const Variable& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, const CtcLossOptions& options) {
  return InPrecision(
      "ctc_loss",
      [&](const Variable& x) {
        const CtcProblem p = ProblemOf(x, targets, input_lengths, target_lengths, options);
        return Reduced(p, LossesOf(p, x), options);
      },
      log_probs);
}

}  // namespace

Variable CtcLoss(const Variable& log_probs, const Tensor& targets, const Tensor& input_lengths,
                 const Tensor& target_lengths, const CtcLossOptions& options) {
  RequireDefined(kOp, log_probs);
  if (log_probs.rank() != 2)
    return OfBatch(log_probs, targets, input_lengths, target_lengths, options);
  Require(input_lengths.numel() == 1 && target_lengths.numel() == 1, kOp,
          "one sequence needs one length each, got {} and {}", input_lengths.shape(),
          target_lengths.shape());
  const Variable loss = OfBatch(Unsqueeze(log_probs, 1), targets, input_lengths.Reshape({1}),
                                target_lengths.Reshape({1}), options);
  return options.reduction == LossReduction::kNone ? Squeeze(loss, {0}) : loss;
}

}  // namespace torus::ops
