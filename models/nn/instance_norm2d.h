// InstanceNorm2d: normalization of each channel of each image (Ulyanov, Vedaldi & Lempitsky 2016).
#pragma once

#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.InstanceNorm2d's. Members without a comment are its arguments; dtype is
// that of the parameters.
struct InstanceNorm2dOptions {
  int64_t channels = 0;  // num_features
  double eps = 1e-5;
  double momentum = 0.1;  // of running statistics; PyTorch's None is 0
  bool affine = false;
  bool track_running_stats = false;
  DType dtype = DType::kF32;
};

// Parameters, where affine: weight ones and bias zeros, both (C). Buffers, where it tracks running
// statistics: running_mean zeros, running_var ones, and num_batches_tracked (i64), which stays 0,
// as PyTorch's does. Images (N, H, W, C).
//
// Each channel of an image is normalized with its own statistics, but in evaluation with the
// running ones, if there are any. Training keeps the means over a micro-batch's images of their
// means and unbiased variances. EndMiniBatch updates the running statistics once, with the means
// over the images of all micro-batches: PyTorch's values for the whole mini-batch. A forward of
// another step or an evaluation before EndMiniBatch throws BadInput.
class InstanceNorm2d : public Module {
 public:
  explicit InstanceNorm2d(const InstanceNorm2dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 protected:
  void OnShare(const ShareStatistics& share) override { kept_ = share(std::move(kept_)); }
  void OnEndMiniBatch(bool taken) override;

 private:
  void Keep(const Variable& x, const StepContext& ctx);
  void RequireNoneKept() const;

  InstanceNorm2dOptions options_;
  Variable weight_, bias_;               // undefined unless affine
  Variable running_mean_, running_var_;  // undefined unless tracked
  KeptStatistics kept_;                  // mean, unbiased variance (C), images (i64)
  int64_t step_ = 0;                     // of kept_, if there are any
};

}  // namespace torus::nn
