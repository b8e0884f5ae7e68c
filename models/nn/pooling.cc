#include "models/nn/pooling.h"

#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

Dims Pair(const Extent& e) { return {e.h, e.w}; }

}  // namespace

Variable MaxPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::MaxPool2d(x, {.kernel_size = Pair(options_.kernel),
                            .stride = Pair(options_.stride.value_or(options_.kernel)),
                            .padding = Pair(options_.padding)});
}

Variable AvgPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::AvgPool2d(x, {.kernel_size = Pair(options_.kernel),
                            .stride = Pair(options_.stride.value_or(options_.kernel)),
                            .padding = Pair(options_.padding),
                            .count_include_pad = options_.count_include_pad});
}

Variable AdaptiveAvgPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::AdaptiveAvgPool2d(x, Pair(output_));
}

}  // namespace torus::nn
