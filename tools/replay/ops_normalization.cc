// Batch norm: PyTorch's channels in dimension 1 around our channels-last one.
#include <algorithm>
#include <cmath>

#include "ops/batch_norm/batch_norm.h"
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

}  // namespace

void AddNormalizations(OpTable& table) { table["batch_norm"] = BatchNorm; }

}  // namespace torus::replay
