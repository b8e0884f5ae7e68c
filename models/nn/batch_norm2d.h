// BatchNorm2d: batch normalization of the channels of images (Ioffe & Szegedy 2015), with a
// residual and an activation fused in.
#pragma once

#include <optional>

#include "models/nn/module.h"
#include "models/nn/running_statistics.h"
#include "ops/batch_norm/batch_norm.h"

namespace torus::nn {

// Defaults are torch.nn.BatchNorm2d's. Members without a comment are its arguments; dtype is that
// of the parameters.
struct BatchNorm2dOptions {
  int64_t channels = 0;  // num_features
  double eps = 1e-5;
  std::optional<double> momentum =
      0.1;  // none: running statistics are the plain average of all mini-batches
  DType dtype = DType::kF32;
};

// Parameters: weight ones, bias zeros. Buffers: running_mean zeros, running_var ones,
// num_batches_tracked (i64).
//
// Training normalizes with the statistics of the micro-batch, as GPipe does (Huang et al. 2019,
// section 2.2), and keeps them. EndMiniBatch merges those of all micro-batches and updates the
// running statistics once; a mini-batch of one micro-batch gives PyTorch's values. Evaluation
// normalizes with the running statistics. A forward of another step or an evaluation before
// EndMiniBatch throws BadInput.
//
// If the context gathers from replicas, the statistics are those of the micro-batch over all
// replicas (ops::BatchNormTrain), and every replica keeps them.
class BatchNorm2d : public Module {
 public:
  explicit BatchNorm2d(const BatchNorm2dOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Returns activation(norm(x) + residual); `residual` may be undefined.
  Variable Forward(const Variable& x, const StepContext& ctx, const Variable& residual,
                   ops::Activation activation);

  // Records the statistics of a fused op that normalizes in place of this layer.
  void Keep(const StepContext& ctx, BatchStatistics statistics);
  // Read by fused ops, as are weight and bias.
  const BatchNorm2dOptions& options() const { return options_; }
  const Variable& weight() const { return weight_; }
  const Variable& bias() const { return bias_; }

 protected:
  void OnShare(const ShareStatistics& share) override { statistics_.Share(share); }
  void OnEndMiniBatch(bool taken) override;

 private:
  BatchNorm2dOptions options_;
  Variable weight_, bias_;
  Variable running_mean_, running_var_, num_batches_tracked_;
  StatisticsOfMiniBatch statistics_;
};

}  // namespace torus::nn
