// The blocks of ResNet (He et al. 2016, "Deep residual learning for image recognition", figure 5):
// two 3 x 3 convolutions, or a bottleneck of 1 x 1, 3 x 3 and 1 x 1; the input is added before the
// last ReLU.
#pragma once

#include <cstdint>
#include <vector>

#include "models/nn/conv_norm.h"

namespace torus {

// How the input gets the output's shape, if they differ.
enum class Shortcut {
  kProjection,  // option B: a 1 x 1 convolution and its batch norm ("downsample.0", "downsample.1")
  kPadding      // option A: every other pixel, and zeros for new channels, half on each side
};

struct ResidualBlockOptions {
  int64_t in = 0;     // channels
  int64_t width = 0;  // of the 3 x 3 convolutions
  int64_t stride = 1;
  bool bottleneck = false;  // 4 x width output channels; the 3 x 3 convolution has the stride
  Shortcut shortcut = Shortcut::kProjection;
  nn::Initializer weight_init = nn::KaimingNormalFanOut();
  DType dtype = DType::kF32;
};

// Children "conv1", "bn1", "conv2", ... and the shortcut's, as torchvision names them.
class ResidualBlock : public nn::Module {
 public:
  explicit ResidualBlock(const ResidualBlockOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  int64_t out() const { return out_; }

 private:
  void AddLayer(const nn::Conv2dOptions& convolution);
  Variable Identity(const Variable& x, const StepContext& ctx) const;

  ResidualBlockOptions options_;
  int64_t out_;
  std::vector<nn::ConvNorm> layers_, downsample_;  // downsample_ has at most one
};

}  // namespace torus
