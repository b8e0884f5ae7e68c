// Pooling layers over images (N, H, W, C).
#pragma once

#include <optional>

#include "models/nn/conv2d.h"

namespace torus::nn {

// Defaults are PyTorch's. Members without a comment are its arguments, pairs of (height, width)
// where they differ.
struct PoolOptions {
  Extent kernel = 1;                  // kernel_size
  std::optional<Extent> stride = {};  // none: the kernel
  Extent padding = 0;
  bool count_include_pad = true;  // of AvgPool2d alone: whether a mean counts zeros of the padding
};

// The largest value of each window; padding does not count.
class MaxPool2d : public Module {
 public:
  explicit MaxPool2d(const PoolOptions& options) : options_(options) {}
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  PoolOptions options_;
};

// The mean of each window.
class AvgPool2d : public Module {
 public:
  explicit AvgPool2d(const PoolOptions& options) : options_(options) {}
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  PoolOptions options_;
};

// Averages images of any size down to `output` pixels, as torch.nn.AdaptiveAvgPool2d.
class AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(Extent output) : output_(output) {}
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  Extent output_;
};

}  // namespace torus::nn
