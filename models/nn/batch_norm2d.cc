#include "models/nn/batch_norm2d.h"

namespace torus::nn {

BatchNorm2d::BatchNorm2d(const BatchNorm2dOptions& options) : options_(options) {
  const Shape shape{options.channels};
  weight_ = AddParameter("weight", shape, options.dtype, Constant(1));
  bias_ = AddParameter("bias", shape, options.dtype, Constant(0));
  running_mean_ = AddBuffer("running_mean", Zeros(shape, options.dtype));
  running_var_ = AddBuffer("running_var", Full(shape, 1, options.dtype));
  num_batches_tracked_ = AddBuffer("num_batches_tracked", Zeros({}, DType::kI64));
}

Variable BatchNorm2d::Forward(const Variable& x, const StepContext& ctx) {
  return Forward(x, ctx, Variable(), ops::Activation::kNone);
}

Variable BatchNorm2d::Forward(const Variable& x, const StepContext& ctx, const Variable& residual,
                              ops::Activation activation) {
  if (!ctx.training) {
    return ops::BatchNormEval(x, running_mean_, running_var_, weight_, bias_, options_.eps,
                              activation, residual);
  }
  ops::BatchNormResult result =
      ops::BatchNormTrain(x, weight_, bias_, options_.eps, activation, residual);
  Keep(ctx, {result.mean, result.var, result.count});
  return result.y;
}

void BatchNorm2d::Keep(const StepContext& ctx, BatchStatistics statistics) {
  statistics_.Keep(ctx.micro_batch, std::move(statistics));
}

LayerCost BatchNorm2d::Cost(const Shape& input) const {
  return {.output = input,
          .activation_bytes = Numel(input) * static_cast<int64_t>(SizeOf(options_.dtype))};
}

void BatchNorm2d::OnEndMiniBatch(bool taken) {
  const std::optional<BatchStatistics> batch = statistics_.Take();
  if (!batch || !taken) return;
  const int64_t batches = ++*num_batches_tracked_.mutable_data<int64_t>();
  const double momentum = options_.momentum.value_or(1.0 / static_cast<double>(batches));
  ops::UpdateRunningStatistics(batch->mean, batch->variance, batch->count, momentum, running_mean_,
                               running_var_);
}

}  // namespace torus::nn
