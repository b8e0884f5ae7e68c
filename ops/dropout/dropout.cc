#include "ops/dropout/dropout.h"

#include <cmath>

#include "autograd/node.h"
#include "ops/dropout/kernels.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

std::vector<RandomStream> StreamsOf(const StepContext& context, uint64_t layer) {
  std::vector<RandomStream> streams;
  for (int64_t sample : context.samples)
    streams.emplace_back(RandomKey{.seed = context.seed,
                                   .step = static_cast<uint64_t>(context.step),
                                   .layer = layer,
                                   .sample = static_cast<uint64_t>(sample)});
  return streams;
}

// One byte per element, less than any input takes.
Tensor MaskOf(const Tensor& x, double p, const StepContext& context, uint64_t layer) {
  Tensor keep(x.shape(), DType::kU8, x.device());
  kernels::DropoutMask(StreamsOf(context, layer), static_cast<uint64_t>(std::llround(p * 0x1p32)),
                       keep);
  return keep;
}

Tensor Apply(const Tensor& x, const Tensor& keep, double p) {
  Tensor y(x.shape(), x.dtype(), x.device());
  kernels::DropoutApply(x, keep, 1 / (1 - p), y);
  return y;
}

Variable DropoutOf(const Variable& input, double p, const StepContext& context, uint64_t layer) {
  const int64_t samples = std::ssize(context.samples);
  Require(input.rank() >= 1 && (samples == 0 ? input.dim(0) == 0 : input.dim(0) % samples == 0),
          "dropout", "needs dimension 0 to be a multiple of the {} samples of the step, got {}",
          samples, input.shape());
  const Tensor x = input.data().Contiguous();
  const Tensor keep = MaskOf(x, p, context, layer);
  return Record("dropout", Apply(x, keep, p), {input},
                [keep = Saved(keep), p](const GradContext& g) {
                  return Gradients{Apply(g.grad(), keep.get(), p)};
                });
}

}  // namespace

Variable Dropout(const Variable& input, double p, const StepContext& context, uint64_t layer) {
  Require(p >= 0 && p <= 1, "dropout", "p must be in [0, 1], got {}", p);
  if (!context.training || p == 0) return input;
  const auto drop = [&](const Variable& x) { return DropoutOf(x, p, context, layer); };
  return StayLowOnGpu(input) ? drop(input) : InPrecision("dropout", drop, input);
}

}  // namespace torus::ops
