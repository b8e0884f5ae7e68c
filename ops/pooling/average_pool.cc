#include "ops/pooling/average_pool.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/pooling/kernels.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

PoolImage ImageOf(std::string_view op, const Shape& shape) {
  CheckImages(op, shape);
  return {shape[0], shape[1], shape[2], shape[3]};
}

// Both kinds of pooling use one kernel, with different windows.
Tensor Forward(std::string_view op, const Tensor& x, const AverageWindows& w) {
  Tensor out({w.image.n, std::ssize(w.rows), std::ssize(w.columns), w.image.c}, x.dtype(),
             x.device());
  kernels::AveragePool(op, w, x, out);
  return out;
}

GradRule SpreadBack(const Shape& shape, AverageWindows windows) {
  return [shape, w = std::move(windows)](const GradContext& g) {
    Tensor dx(shape, g.grad().dtype(), g.grad().device());
    kernels::AveragePoolBackward(w, g.grad(), dx);
    return Gradients{dx};
  };
}

// The override takes the place of the product of both divisors.
void Override(std::vector<AverageWindow>& windows, double divisor) {
  for (AverageWindow& window : windows) window.divisor = divisor;
}

std::vector<AverageWindow> WindowsOf(int64_t in, const PoolAxis& axis,
                                     const AvgPool2dOptions& options) {
  const int64_t out = PooledSize("avg_pool2d", in, axis, options.ceil_mode);
  return SlidingWindows(in, out, axis, options.count_include_pad);
}

// Averages over these windows of images.
Variable RecordPool(std::string_view op, const Variable& input, const AverageWindows& w) {
  const auto pool = [&](const Variable& x) {
    return Record(op, Forward(op, x.data().Contiguous(), w), {x}, SpreadBack(x.shape(), w));
  };
  return StayLowOnGpu(input) ? pool(input) : InPrecision(op, pool, input);
}

}  // namespace

Variable AvgPool2d(const Variable& input, const AvgPool2dOptions& options) {
  constexpr const char* kOp = "avg_pool2d";
  RequireDefined(kOp, input);
  AverageWindows w{.image = ImageOf(kOp, input.shape())};
  const Dims kernel = PoolPair(kOp, "kernel_size", options.kernel_size);
  const Dims stride = options.stride.rank() == 0 ? kernel : PoolPair(kOp, "stride", options.stride);
  const Dims padding = PoolPair(kOp, "padding", options.padding);
  w.rows = WindowsOf(w.image.h, {kernel[0], stride[0], padding[0]}, options);
  w.columns = WindowsOf(w.image.w, {kernel[1], stride[1], padding[1]}, options);
  if (options.divisor_override) {
    Require(*options.divisor_override != 0, kOp, "divisor_override must not be 0");
    Override(w.rows, static_cast<double>(*options.divisor_override));
    Override(w.columns, 1);
  }
  return RecordPool("avg_pool2d", input, w);
}

Variable AdaptiveAvgPool2d(const Variable& input, const Dims& output_size) {
  constexpr const char* kOp = "adaptive_avg_pool2d";
  RequireDefined(kOp, input);
  AverageWindows w{.image = ImageOf(kOp, input.shape())};
  Dims size = PoolPair(kOp, "output_size", output_size);
  for (int i = 0; i < 2; ++i) {
    if (size[i] == -1) size[i] = input.dim(1 + i);
    Require(size[i] >= 0, kOp, "output sizes must not be negative, got {}", output_size);
  }
  w.rows = AdaptiveWindows(w.image.h, size[0]);
  w.columns = AdaptiveWindows(w.image.w, size[1]);
  return RecordPool("adaptive_avg_pool2d", input, w);
}

}  // namespace torus::ops
