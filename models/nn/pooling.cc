#include "models/nn/pooling.h"

#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "runtime/error.h"

namespace torus::nn {

Variable MaxPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::MaxPool2d(x, {.kernel_size = options_.kernel.dims(),
                            .stride = options_.stride.value_or(options_.kernel).dims(),
                            .padding = options_.padding.dims()});
}

Variable AvgPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::AvgPool2d(x, {.kernel_size = options_.kernel.dims(),
                            .stride = options_.stride.value_or(options_.kernel).dims(),
                            .padding = options_.padding.dims(),
                            .count_include_pad = options_.count_include_pad});
}

Variable AdaptiveAvgPool2d::Forward(const Variable& x, const StepContext&) {
  return ops::AdaptiveAvgPool2d(x, output_.dims());
}

}  // namespace torus::nn
