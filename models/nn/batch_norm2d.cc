#include "models/nn/batch_norm2d.h"

namespace torus::nn {

BatchNorm2d::BatchNorm2d(const BatchNorm2dOptions& options) : options_(options) {
  const Shape shape{options.channels};
  weight_ = AddParameter("weight", shape, options.dtype, Constant(1));
  bias_ = AddParameter("bias", shape, options.dtype, Constant(0));
  running_mean_ = AddBuffer("running_mean", shape, options.dtype, Constant(0));
  running_var_ = AddBuffer("running_var", shape, options.dtype, Constant(1));
  num_batches_tracked_ = AddBuffer("num_batches_tracked", {}, DType::kI64, Constant(0));
}

Variable BatchNorm2d::Forward(const Variable& x, const StepContext& ctx) {
  return Forward(x, ctx, Variable(), ops::Activation::kNone);
}

Variable BatchNorm2d::Forward(const Variable& x, const StepContext& ctx, const Variable& residual,
                              ops::Activation activation) {
  RequireValues("batch_norm", x);
  if (!ctx.training) {
    if (x.data().device() != kMetaDevice) statistics_.RequireNone();
    return ops::BatchNormEval(x, running_mean_.data(), running_var_.data(), weight_, bias_,
                              options_.eps, activation, residual);
  }
  ops::BatchNormResult result = ops::BatchNormTrain(x, weight_, bias_, options_.eps, activation,
                                                    residual, ctx.gather_replicas);
  Keep(ctx, {result.mean, result.var, result.count});
  return result.y;
}

void BatchNorm2d::Keep(const StepContext& ctx, BatchStatistics statistics) {
  if (statistics.mean.device() == kMetaDevice)
    return;  // a forward on the meta device must not change the module
  statistics_.Keep(ctx, std::move(statistics));
}

void BatchNorm2d::OnEndMiniBatch(bool taken) {
  const std::optional<BatchStatistics> batch = statistics_.Take();
  if (!batch || !taken) return;
  Tensor& batches = num_batches_tracked_.mutable_data();
  const double momentum = options_.momentum ? *options_.momentum : 1 / (batches.Item() + 1);
  ops::UpdateRunningStatistics(batch->mean, batch->variance, batch->count, momentum,
                               running_mean_.mutable_data(), running_var_.mutable_data(), &batches);
}

}  // namespace torus::nn
