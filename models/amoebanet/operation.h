// The operations of AmoebaNet-D's cells (Real et al. 2019, "Regularized evolution for image
// classifier architecture search", figure 3b), as torchgpipe's benchmark has them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/nn/conv_norm.h"

namespace torus::amoebanet {

enum class OperationKind {
  kNone,        // the input itself
  kAvgPool3x3,  // padding does not count
  kMaxPool3x3,  // an average too: torchgpipe computes one under this name
  kMaxPool2x2,
  kConv1x1,
  kConv3x3,     // 1 x 1 to a quarter of the channels, 3 x 3, 1 x 1 back
  kConv1x7_7x1  // 1 x 1 to a quarter, 1 x 7, 7 x 1, 1 x 1 back
};

// Convolutions, each preceded by ReLU and followed by batch norm. Children are named by their index
// in the list ReLU, convolution, norm, ReLU, ...: "1", "2", "4", "5", ...
class ReluConvNorms : public nn::Module {
 public:
  explicit ReluConvNorms(const std::vector<nn::Conv2dOptions>& convolutions);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  std::vector<nn::ConvNorm> chain_;
};

// Halves height and width: ReLU, then two 1 x 1 convolutions of stride 2, one from the even pixels
// and one from the odd ones, concatenated, then batch norm. Children "conv1", "conv2", "bn". Throws
// BadInput for an odd height or width.
class FactorizedReduce : public nn::Module {
 public:
  FactorizedReduce(int64_t in, int64_t out, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 private:
  std::shared_ptr<nn::Conv2d> even_, odd_;
  std::shared_ptr<nn::BatchNorm2d> norm_;
};

// Makes the operation with `channels` input and output channels. kNone needs stride 1.
std::shared_ptr<nn::Module> MakeOperation(OperationKind kind, int64_t channels, int64_t stride,
                                          DType dtype);

// The same options for a convolution that has no bias.
nn::Conv2dOptions WithoutBias(nn::Conv2dOptions options);

}  // namespace torus::amoebanet
