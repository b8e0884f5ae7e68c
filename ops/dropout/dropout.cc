#include "ops/dropout/dropout.h"

#include <cmath>

#include "autograd/node.h"
#include "ops/dropout/kernels.h"
#include "ops/elementwise/elementwise.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

std::vector<RandomStream> StreamsOf(const Variable& input, const StepContext& context,
                                    uint64_t layer) {
  Require(input.rank() >= 1, "dropout", "needs at least one dimension, got {}", input.shape());
  const std::vector<int64_t> samples = SamplesOf(context, input.dim(0));
  Require(samples.empty() || input.dim(0) % std::ssize(samples) == 0, "dropout",
          "needs dimension 0 to be a multiple of the {} of StepContext::samples, got {}",
          samples.size(), input.shape());
  std::vector<RandomStream> streams;
  for (int64_t sample : samples)
    streams.emplace_back(RandomKey{.seed = context.seed,
                                   .step = static_cast<uint64_t>(context.step),
                                   .layer = layer,
                                   .sample = static_cast<uint64_t>(sample)});
  return streams;
}

uint64_t ThresholdOf(double p) { return static_cast<uint64_t>(std::llround(p * 0x1p32)); }

// One byte per element, less than any input takes.
Tensor MaskOf(const Variable& input, double p, const StepContext& context, uint64_t layer) {
  Tensor keep(input.shape(), DType::kU8, input.data().device());
  kernels::DropoutMask(StreamsOf(input, context, layer), ThresholdOf(p), keep);
  return keep;
}

void CheckProbability(double p) {
  Require(p >= 0 && p <= 1, "dropout", "p must be in [0, 1], got {}", p);
}

Tensor Apply(const Tensor& x, const Tensor& keep, double p) {
  Tensor y(x.shape(), x.dtype(), x.device());
  kernels::DropoutApply(x, keep, 1 / (1 - p), y);
  return y;
}

Variable DropoutOf(const Variable& input, double p, const StepContext& context, uint64_t layer) {
  const Tensor x = input.data().Contiguous();
  const Tensor keep = MaskOf(input, p, context, layer);
  return Record("dropout", Apply(x, keep, p), {input},
                [keep = Saved(keep), p](const GradContext& g) {
                  return Gradients{Apply(g.grad(), keep.get(), p)};
                });
}

// Whether a GPU has a kernel for both steps: types that Add takes, the wider one the residual's.
bool AddsInOnePass(const Variable& input, const Variable& residual) {
  const DType x = input.dtype(), r = residual.dtype();
  const bool widens = IsLow(x) && r == DType::kF32 && WithPrecision::Current() != DType::kF32;
  return input.data().device().kind == DeviceKind::kCuda && input.shape() == residual.shape() &&
         CommonDevice("dropout", input.data(), residual.data()) == input.data().device() &&
         (widens || (x == r && (IsLow(x) || x == DType::kF32)));
}

Variable DropoutAddOf(const Variable& input, const Variable& residual, double p,
                      const StepContext& context, uint64_t layer) {
  const DroppedElements dropped{StreamsOf(input, context, layer), ThresholdOf(p), 1 / (1 - p)};
  Tensor y(residual.shape(), residual.dtype(), residual.data().device());
  kernels::DropoutAdd(input.data().Contiguous(), residual.data().Contiguous(), dropped, y);
  return Record("dropout", y, {input, residual},
                [dropped, dtype = input.dtype()](const GradContext& g) {
                  if (!g.wants(0)) return Gradients{Tensor(), g.grad()};
                  Tensor dx(g.grad().shape(), dtype, g.grad().device());
                  kernels::DropoutGradient(g.grad(), dropped, dx);
                  return Gradients{dx, g.grad()};
                });
}

}  // namespace

Variable Dropout(const Variable& input, double p, const StepContext& context, uint64_t layer) {
  CheckProbability(p);
  if (!context.training || p == 0) return input;
  const auto drop = [&](const Variable& x) { return DropoutOf(x, p, context, layer); };
  return StayLowOnGpu(input) ? drop(input) : InPrecision("dropout", drop, input);
}

Variable DropoutAdd(const Variable& input, const Variable& residual, double p,
                    const StepContext& context, uint64_t layer) {
  CheckProbability(p);
  if (context.training && p > 0 && AddsInOnePass(input, residual))
    return DropoutAddOf(input, residual, p, context, layer);
  return Add(Dropout(input, p, context, layer), residual);
}

}  // namespace torus::ops
