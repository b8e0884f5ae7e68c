// Batch, group and instance norm: PyTorch's channels in dimension 1 around our channels-last ones.
#include <algorithm>
#include <cmath>

#include "ops/batch_norm/batch_norm.h"
#include "ops/layer_norm/group_norm.h"
#include "ops/reduction/variance.h"
#include "ops/view/view.h"
#include "tools/replay/layout.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

struct Statistics {
  Tensor mean, var;
};

// In place, as PyTorch does; the case's own tensors stay as they are.
Statistics Updated(const ops::BatchNormResult& batch, const Variable& mean, const Variable& var,
                   double momentum) {
  Statistics running{mean.data().Clone(), var.data().Clone()};
  ops::UpdateRunningStatistics(batch.mean, batch.var, batch.count, momentum, running.mean,
                               running.var);
  return running;
}

// 1 / sqrt(var + eps) of the channel where it is largest: what rounding of the input is magnified
// by.
double LargestInverseDeviation(const Tensor& var, double eps) {
  double largest = 0;
  for (const double v : ToVector<double>(var.To(DType::kF64).Contiguous()))
    largest = std::max(largest, 1 / std::sqrt(v + eps));
  return largest;
}

// PyTorch takes an input of shape (0), without any channel, and leaves all as it is.
OpRun OfNothing(Arguments& a, const Variable& input) {
  Require(input.numel() == 0, "batch_norm", "needs (N, C, ...), got {}", input.shape());
  OpRun run{.outputs = {ops::Reshape(input, input.shape())}};
  for (const char* name : {"running_mean", "running_var"})
    if (const Variable statistic = a.Optional(name); statistic.defined())
      run.after[name] = statistic.data();
  return run;
}

OpRun BatchNorm(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Optional("weight"), bias = a.Optional("bias");
  const Variable mean = a.Optional("running_mean"), var = a.Optional("running_var");
  const bool training = a.attrs().Flag("training", false);
  const double momentum = a.attrs().Number("momentum", 0.1), eps = a.attrs().Number("eps", 1e-5);
  if (input.rank() < 2) return OfNothing(a, input);
  const Variable x = ToChannelsLast(input);
  OpRun run{.terms = input.numel(), .factors = {"input", "weight"}};
  run.least = input.numel() / std::max<int64_t>(1, input.dim(1));
  Statistics running{mean.defined() ? mean.data() : Tensor(),
                     var.defined() ? var.data() : Tensor()};
  if (training) {
    const ops::BatchNormResult result = ops::BatchNormTrain(x, weight, bias, eps);
    if (mean.defined()) running = Updated(result, mean, var, momentum);
    run.coefficient = LargestInverseDeviation(result.var, eps);
    run.outputs = {ToChannelsFirst(result.y)};
  } else {
    Require(mean.defined() && var.defined(), "batch_norm", "evaluation needs running statistics");
    run.coefficient = LargestInverseDeviation(running.var, eps);
    run.outputs = {
        ToChannelsFirst(ops::BatchNormEval(x, running.mean, running.var, weight, bias, eps))};
  }
  run.after = {{"running_mean", running.mean}, {"running_var", running.var}};
  return run;
}

// Of x (N, ..., C) with groups of `width` channels.
double LargestInverseDeviationOfGroups(const Variable& x, int64_t groups, double eps) {
  if (x.numel() == 0) return 1;
  const int64_t n = x.dim(0), width = x.dim(-1) / groups, pixels = x.numel() / (n * x.dim(-1));
  const Variable parts = ops::Reshape(x, {n, pixels, groups, width});
  return LargestInverseDeviation(ops::Var(parts, {1, 3}, 0).data(), eps);
}

OpRun GroupsRun(const Variable& y, const Variable& x, int64_t groups, double eps) {
  return {.outputs = {ToChannelsFirst(y)},
          .terms = x.numel(),
          .least = std::max<int64_t>(1, x.numel() / std::max<int64_t>(1, x.dim(-1))),
          .factors = {"input", "weight"},
          .coefficient = LargestInverseDeviationOfGroups(x, groups, eps)};
}

OpRun GroupNorm(Arguments& a) {
  const Variable x = ToChannelsLast(a.Take("input"));
  const int64_t groups = a.attrs().Int("num_groups", 1);
  const double eps = a.attrs().Number("eps", 1e-5);
  const Variable y = ops::GroupNorm(x, groups, a.Optional("weight"), a.Optional("bias"), eps);
  return GroupsRun(y, x, groups, eps);
}

OpRun InstanceNorm(Arguments& a) {
  const Variable x = ToChannelsLast(a.Take("input"));
  const Variable weight = a.Optional("weight"), bias = a.Optional("bias");
  const Variable mean = a.Optional("running_mean"), var = a.Optional("running_var");
  const double momentum = a.attrs().Number("momentum", 0.1), eps = a.attrs().Number("eps", 1e-5);
  const bool own = a.attrs().Flag("use_input_stats", true);
  Statistics running{mean.defined() ? mean.data() : Tensor(),
                     var.defined() ? var.data() : Tensor()};
  OpRun run;
  if (own) {
    run = GroupsRun(ops::InstanceNorm(x, weight, bias, eps), x, x.dim(-1), eps);
    const ops::InstanceStatistics batch = ops::StatisticsOfInstances(x);
    if (mean.defined())
      running = Updated({{}, batch.mean, batch.var, batch.count}, mean, var, momentum);
  } else {
    Require(mean.defined() && var.defined(), a.op(), "evaluation needs running statistics");
    run = GroupsRun(ops::BatchNormEval(x, running.mean, running.var, weight, bias, eps), x,
                    x.dim(-1), eps);
    run.coefficient = LargestInverseDeviation(running.var, eps);
  }
  run.after = {{"running_mean", running.mean}, {"running_var", running.var}};
  return run;
}

}  // namespace

void AddNormalizations(OpTable& table) {
  table["batch_norm"] = BatchNorm;
  table["group_norm"] = GroupNorm;
  table["instance_norm"] = InstanceNorm;
}

}  // namespace torus::replay
