#include "models/nn/pooling.h"

#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

Dims Pair(const Extent& e) { return {e.h, e.w}; }

LayerCost CostOf(const char* layer, const Shape& input, int64_t height, int64_t width) {
  Require(input.rank() == 4 && height >= 1 && width >= 1, layer,
          "needs images (N, H, W, C) no smaller than its window, got {}", ToString(input));
  const Shape output{input[0], height, width, input[3]};
  return {.output = output,
          .activation_bytes = Numel(output) * static_cast<int64_t>(SizeOf(DType::kF32))};
}

LayerCost WindowCost(const char* layer, const Shape& input, const PoolOptions& o) {
  Require(input.rank() == 4, layer, "needs images (N, H, W, C), got {}", ToString(input));
  return CostOf(layer, input, (input[1] + 2 * o.padding.h - o.kernel.h) / o.stride.h + 1,
                (input[2] + 2 * o.padding.w - o.kernel.w) / o.stride.w + 1);
}

}  // namespace

Variable MaxPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::MaxPool2d(x, {.kernel_size = Pair(options_.kernel),
                            .stride = Pair(options_.stride),
                            .padding = Pair(options_.padding)});
}

LayerCost MaxPool2d::Cost(const Shape& input) const {
  return WindowCost("max_pool2d", input, options_);
}

Variable AvgPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::AvgPool2d(x, {.kernel_size = Pair(options_.kernel),
                            .stride = Pair(options_.stride),
                            .padding = Pair(options_.padding),
                            .count_include_pad = false});
}

LayerCost AvgPool2d::Cost(const Shape& input) const {
  return WindowCost("avg_pool2d", input, options_);
}

Variable AdaptiveAvgPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::AdaptiveAvgPool2d(x, Pair(output_));
}

LayerCost AdaptiveAvgPool2d::Cost(const Shape& input) const {
  return CostOf("adaptive_avg_pool2d", input, output_.h, output_.w);
}

}  // namespace torus::nn
