// One whole training step of MobileNetV2, to be timed: forward, backward, momentum SGD.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "models/nn/sequential.h"
#include "parallel/optim/sgd.h"

namespace torus::bench {

struct TrainStepOptions {
  int64_t size = 224;  // images are size x size
  int64_t batch = 16;
  int64_t num_classes = 1000;
  double learning_rate = 0.01, momentum = 0.9;
};

class TrainStep {
 public:
  // Weights and batch from a fixed seed. Dropout is off: two frameworks draw different numbers.
  explicit TrainStep(const TrainStepOptions& options);
  // Weights and batch from a .safetensors file: torchvision's names, "images" (N, 3, H, W) and "labels" (N). Its sizes
  // take the place of those in `options`.
  TrainStep(TrainStepOptions options, const std::string& exchange);

  // The loss before the update.
  double Run();

  const TrainStepOptions& options() const { return options_; }
  // Of convolutions and products in one step, a multiply-add being two: three times those of the forward.
  double flops() const { return flops_; }

 private:
  void Build(const Tensor& images);

  TrainStepOptions options_;
  std::shared_ptr<nn::Sequential> model_;
  std::unique_ptr<parallel::Sgd> optimizer_;
  Variable images_, labels_;
  StepContext ctx_;
  double flops_ = 0;
};

}  // namespace torus::bench
