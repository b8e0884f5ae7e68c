// The block of MobileNetV2 (Sandler et al. 2018, section 3.3 and figure 4): a narrow input is
// expanded by a 1 x 1 convolution, filtered depthwise 3 x 3, and projected back without activation.
// The input is added if the shapes agree.
#pragma once

#include <cstdint>
#include <vector>

#include "models/nn/conv_bn_relu6.h"

namespace torus {

struct InvertedResidualOptions {
  int64_t in = 0, out = 0;  // channels
  int64_t stride = 1;       // 1 or 2
  int64_t expansion = 1;    // factor of the hidden channels; 1: no expansion layer
  DType dtype = DType::kF32;
};

// Children "conv.0" ...: [expansion], depthwise, projection, its batch norm.
class InvertedResidual : public nn::Module {
 public:
  explicit InvertedResidual(const InvertedResidualOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  bool residual_;
  std::vector<nn::ConvNorm> chain_;
};

}  // namespace torus
