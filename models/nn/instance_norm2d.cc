#include "models/nn/instance_norm2d.h"

#include <utility>

#include "autograd/node.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/layer_norm/group_norm.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

// Of a micro-batch: means over its images of each channel's mean and unbiased variance, and the
// number of images.
std::vector<Tensor> StatisticsOf(const Variable& x, DType dtype) {
  const Tensor images = Full({}, static_cast<double>(x.dim(0)), DType::kI64);
  if (x.numel() == 0) {
    const Tensor none = Zeros({x.dim(-1)}, dtype, x.data().device());
    return {none, none, images};
  }
  const ops::InstanceStatistics of = ops::StatisticsOfInstances(ops::Cast(x, dtype));
  const double unbias = static_cast<double>(of.count) / static_cast<double>(of.count - 1);
  return {of.mean, ops::Mul(Variable(of.var), unbias).data(), images};
}

double ImagesOf(const KeptStatistics& parts) {
  double images = 0;
  for (const auto& [micro_batch, part] : parts) images += part.at(2).Item();
  return images;
}

// The mean over `images` images of what parts of them have at `index`.
Tensor MeanOverImages(const KeptStatistics& parts, size_t index, double images) {
  Variable sum;
  for (const auto& [micro_batch, part] : parts) {
    const Variable of_part =
        ops::Mul(Variable(part.at(index).To(DType::kF64)), part.at(2).Item() / images);
    sum = sum.defined() ? ops::Add(sum, of_part) : of_part;
  }
  return sum.data();
}

}  // namespace

InstanceNorm2d::InstanceNorm2d(const InstanceNorm2dOptions& o) : options_(o) {
  Require(o.channels >= 1, "instance_norm", "needs at least one channel, got {}", o.channels);
  const Shape shape{o.channels};
  if (o.affine) {
    weight_ = AddParameter("weight", shape, o.dtype, Constant(1));
    bias_ = AddParameter("bias", shape, o.dtype, Constant(0));
  }
  if (!o.track_running_stats) return;
  running_mean_ = AddBuffer("running_mean", shape, o.dtype, Constant(0));
  running_var_ = AddBuffer("running_var", shape, o.dtype, Constant(1));
  AddBuffer("num_batches_tracked", {}, DType::kI64, Constant(0));
}

Variable InstanceNorm2d::Forward(const Variable& x, const StepContext& ctx) {
  Require(x.rank() == 4 && x.dim(-1) == options_.channels, "instance_norm",
          "needs images (N, H, W, {}), got {}", options_.channels, x.shape());
  RequireValues("instance_norm", x);
  if (!options_.track_running_stats) return ops::InstanceNorm(x, weight_, bias_, options_.eps);
  if (!ctx.training) {
    if (x.data().device() != kMetaDevice) RequireNoneKept();
    return ops::BatchNormEval(x, running_mean_.data(), running_var_.data(), weight_, bias_,
                              options_.eps);
  }
  Variable y = ops::InstanceNorm(x, weight_, bias_, options_.eps);
  Keep(x, ctx);
  return y;
}

void InstanceNorm2d::Keep(const Variable& x, const StepContext& ctx) {
  // A forward on the meta device must not change the module.
  if (x.data().device() == kMetaDevice) return;
  if (ctx.step != step_) RequireNoneKept();
  step_ = ctx.step;
  const NoGrad constant;
  // The key is the micro-batch's number, so a forward that runs twice counts once.
  kept_[ctx.micro_batch] = StatisticsOf(x, options_.dtype);
}

void InstanceNorm2d::RequireNoneKept() const {
  Require(kept_.empty(), "instance_norm",
          "the statistics of step {} are pending: call EndMiniBatch after each mini-batch", step_);
}

void InstanceNorm2d::OnEndMiniBatch(bool taken) {
  const KeptStatistics kept = std::exchange(kept_, {});
  const double images = ImagesOf(kept);
  if (images == 0 || !taken) return;
  const NoGrad constant;
  const auto mean = [&](size_t index) {
    return MeanOverImages(kept, index, images).To(options_.dtype);
  };
  // A count of 1 leaves the variance as it is: it is unbiased already.
  ops::UpdateRunningStatistics(mean(0), mean(1), /*count=*/1, options_.momentum,
                               running_mean_.mutable_data(), running_var_.mutable_data());
}

}  // namespace torus::nn
