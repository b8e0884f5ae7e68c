#include "ops/batch_norm/batch_norm.h"

#include <memory>
#include <vector>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/batch_norm/kernels.h"
#include "ops/batch_norm/over_replicas.h"
#include "ops/precision/in_precision.h"
#include "ops/precision/native.h"
#include "runtime/batched_work.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

void CheckChannels(std::string_view name, const Tensor& tensor, const Variable& x) {
  const int64_t channels = x.dim(-1);
  const DType wanted = SumTypeOf(x.dtype());
  if (!tensor.defined()) return;
  Require(tensor.shape() == Shape{channels}, "batch_norm",
          "input {} has {} channels, its last dimension, {} has shape {}", x.shape(), channels,
          name, tensor.shape());
  Require(tensor.dtype() == wanted, "batch_norm", "{} must be {} for an input of {}, got {}", name,
          Name(wanted), Name(x.dtype()), Name(tensor.dtype()));
}

Tensor DataOf(const Variable& variable) {
  return variable.defined() ? variable.data().Contiguous() : Tensor();
}

// Inputs checked and made contiguous.
struct Inputs {
  Inputs(const Variable& x_in, const Variable& weight_in, const Variable& bias_in,
         const Variable& residual_in) {
    Require(x_in.rank() >= 2, "batch_norm", "needs (N, ..., C), got {}", x_in.data());
    x = DataOf(x_in), weight = DataOf(weight_in), bias = DataOf(bias_in),
    residual = DataOf(residual_in);
    CheckChannels("weight", weight, x_in);
    CheckChannels("bias", bias, x_in);
    Require(!residual.defined() || (residual.shape() == x.shape() && residual.dtype() == x.dtype()),
            "batch_norm", "residual must be like x, {}, got {}", x, residual);
    channels = x.dim(-1);
    rows = channels == 0 ? 0 : x.numel() / channels;
    device = CommonDevice("batch_norm", x, weight, bias, residual);
  }
  Tensor x, weight, bias, residual;
  int64_t rows, channels;
  Device device;
};

// What the gradient rule keeps. `count` is 0 if the statistics are constants.
struct ForBackward {
  SavedActivation x, y, residual;  // as NormBackwardInputs
  std::shared_ptr<const ChannelAffine> affine;
  Activation activation;
  int64_t count;
  bool has_residual;
  GatherReplicas gather;  // empty if the statistics are of x alone
};

Gradients Rule(const ForBackward& saved, const GradContext& g) {
  const Tensor& dy = g.grad();
  // With a residual the masked gradient is a separate output (or dy itself if nothing is masked).
  const bool masks = saved.has_residual && saved.activation != Activation::kNone;
  const Tensor channels(Shape{dy.dim(-1)}, SumTypeOf(dy.dtype()), kMetaDevice);
  const auto like = [&](const Tensor& t) { return Tensor(t.shape(), t.dtype(), dy.device()); };
  NormGradients out;
  if (g.wants(0)) out.x = like(dy);
  if (g.wants(1)) out.weight = like(channels);
  if (g.wants(2)) out.bias = like(channels);
  if (masks) out.masked = like(dy);
  const NormBackwardInputs in{saved.x.get(), saved.y.get(),    saved.residual.get(),
                              *saved.affine, saved.activation, saved.count};
  if (saved.gather && g.wants(0)) {
    Tensor sums({2, dy.dim(-1)}, DType::kF64, dy.device());
    kernels::SumGradients(in, dy, out.masked, sums);
    kernels::NormalizeChannelsBackward(in, dy, sums, SumOverReplicas(sums, saved.gather), out);
  } else {
    kernels::BatchNormBackward(in, dy, out);
  }
  return {out.x, out.weight, out.bias, g.wants(3) ? (masks ? out.masked : dy) : Tensor()};
}

std::shared_ptr<ChannelAffine> NewAffine(const Inputs& in) {
  return std::make_shared<ChannelAffine>(in.channels, SumTypeOf(in.x.dtype()), in.device);
}

std::shared_ptr<ChannelAffine> Folded(const Inputs& in, const BatchMoments& statistics,
                                      double eps) {
  auto affine = NewAffine(in);
  kernels::FoldChannels(statistics.mean, statistics.var, eps, in.weight, in.bias, *affine);
  return affine;
}

// `count` is that of ForBackward.
Variable Normalize(const Inputs& in, const std::vector<Variable>& inputs,
                   std::shared_ptr<const ChannelAffine> affine, int64_t count,
                   Activation activation, const GatherReplicas& gather) {
  Tensor y(in.x.shape(), in.x.dtype(), in.device);
  kernels::NormalizeChannels(in.x, *affine, activation, in.residual, y);
  if (!NeedsGrad(inputs))
    return Record("batch_norm", y, {}, [](const GradContext&) { return Gradients(); });
  const bool needs_more = in.residual.defined() && activation != Activation::kNone;
  const bool rounded = IsLow(y.dtype());
  const ForBackward saved{SavedActivation(in.x),
                          needs_more && !rounded ? SavedActivation(y) : SavedActivation(),
                          needs_more && rounded ? SavedActivation(in.residual) : SavedActivation(),
                          std::move(affine),
                          activation,
                          count,
                          in.residual.defined(),
                          gather};
  return Record("batch_norm", y, inputs, [saved](const GradContext& g) { return Rule(saved, g); });
}

BatchMoments MomentsOf(const Inputs& in) {
  const Shape channels{in.channels};
  if (in.rows == 0)
    return {Zeros(channels, DType::kF64, in.device), Full(channels, 1, DType::kF64, in.device), 0};
  BatchMoments own{Tensor(channels, DType::kF64, in.device),
                   Tensor(channels, DType::kF64, in.device), in.rows};
  kernels::ChannelStatistics(in.x, own.mean, own.var);
  return own;
}

BatchNormResult Train(const Variable& x, const Variable& weight, const Variable& bias, double eps,
                      Activation activation, const Variable& residual,
                      const GatherReplicas& gather) {
  const Inputs in(x, weight, bias, residual);
  const bool counted = !gather || in.device != kMetaDevice;  // else others' rows are unknown
  const auto check = [&](int64_t count) {
    Require(count != 1 || !counted, "batch_norm",
            "training needs more than one value a channel, got {}", in.x);
  };
  std::shared_ptr<ChannelAffine> affine;
  int64_t count = in.rows;
  if (gather || in.rows == 0) {
    BatchMoments all = MomentsOf(in);
    if (gather && counted) all = OverReplicas(all, gather);
    check(count = all.count);
    affine = Folded(in, all, eps);
  } else {
    check(count);
    affine = NewAffine(in);
    kernels::FoldStatistics(in.x, eps, in.weight, in.bias, *affine);
  }
  Variable y = Normalize(in, {x, weight, bias, residual}, affine, count, activation,
                         counted ? gather : GatherReplicas());
  return {y, affine->mean, affine->var, count};
}

// Whether GPU kernels read the 16-bit inputs directly.
bool ReadsLow(const Variable& x, const Variable& weight, const Variable& bias,
              const Variable& residual) {
  const auto full = [](const Variable& v) { return !v.defined() || v.dtype() == DType::kF32; };
  return StayLowOnGpu(x, residual) && full(weight) && full(bias);
}

}  // namespace

BatchNormResult BatchNormTrain(const Variable& x, const Variable& weight, const Variable& bias,
                               double eps, Activation activation, const Variable& residual,
                               const GatherReplicas& gather) {
  if (ReadsLow(x, weight, bias, residual))
    return Train(x, weight, bias, eps, activation, residual, gather);
  BatchNormResult result;
  result.y = InPrecision(
      "batch_norm",
      [&](const Variable& x, const Variable& weight, const Variable& bias,
          const Variable& residual) {
        result = Train(x, weight, bias, eps, activation, residual, gather);
        return result.y;
      },
      x, weight, bias, residual);
  return result;
}

Variable BatchNormEval(const Variable& x, const Tensor& mean, const Tensor& var,
                       const Variable& weight, const Variable& bias, double eps,
                       Activation activation, const Variable& residual) {
  const auto normalize = [&](const Variable& x, const Variable& weight, const Variable& bias,
                             const Variable& residual) {
    const Inputs in(x, weight, bias, residual);
    Require(mean.defined() && var.defined(), "batch_norm", "evaluation needs running statistics");
    CheckChannels("running_mean", mean, x);
    CheckChannels("running_var", var, x);
    CommonDevice("batch_norm", x.data(), mean, var);
    const auto affine =
        Folded(in, {mean.To(DType::kF64).Contiguous(), var.To(DType::kF64).Contiguous()}, eps);
    return Normalize(in, {x, weight, bias, residual}, affine, 0, activation, {});
  };
  return ReadsLow(x, weight, bias, residual)
             ? normalize(x, weight, bias, residual)
             : InPrecision("batch_norm", normalize, x, weight, bias, residual);
}

void UpdateRunningStatistics(const Tensor& mean, const Tensor& var, int64_t count, double momentum,
                             Tensor& running_mean, Tensor& running_var, Tensor* batches) {
  Require(running_mean.shape() == mean.shape() && running_var.shape() == var.shape() &&
              running_mean.is_contiguous() && running_var.is_contiguous(),
          "batch_norm", "running statistics must be contiguous {}, got {} and {}", mean.shape(),
          running_mean, running_var);
  Require(batches == nullptr || (batches->dtype() == DType::kI64 && batches->numel() == 1),
          "batch_norm", "the number of batches must be one i64");
  if (count == 0 || mean.numel() == 0) {
    if (batches != nullptr)
      AddInPlace(*batches, Full(batches->shape(), 1, DType::kI64, batches->device()));
    return;
  }
  const double unbias =
      count > 1 ? static_cast<double>(count) / static_cast<double>(count - 1) : 1.0;
  RunningUpdate update{mean.Contiguous(),
                       var.Contiguous(),
                       unbias,
                       momentum,
                       running_mean,
                       running_var,
                       batches == nullptr ? Tensor() : *batches};
  BatchedWork* const batched = BatchedWork::Here();
  if (batched != nullptr && running_mean.device().kind == DeviceKind::kCuda)
    return batched->PutOff(&kernels::UpdateRunningStatistics, std::move(update));
  std::vector<RunningUpdate> one{std::move(update)};
  kernels::UpdateRunningStatistics(one);
}

void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count) {
  for (const Tensor* t : std::initializer_list<const Tensor*>{&more_mean, &more_var, &mean, &var})
    Require(t->dtype() == DType::kF64 && t->shape() == mean.shape() && t->is_contiguous() &&
                t->device() == mean.device(),
            "batch_norm", "statistics to merge must be alike and f64, got {} and {}", mean, *t);
  if (more > 0) kernels::MergeStatistics(more_mean, more_var, more, mean, var, count);
}

}  // namespace torus::ops
