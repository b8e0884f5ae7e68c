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
  kAvgPool3x3,  // over the pixels of the image alone
  kMaxPool3x3,  // the same: torchgpipe averages here too, and so its figures are of this
  kMaxPool2x2,
  kConv1x1,
  kConv3x3,     // 1 x 1 to a quarter of the channels, 3 x 3, 1 x 1 back
  kConv1x7_7x1  // 1 x 1 to a quarter, 1 x 7, 7 x 1, 1 x 1 back
};

// Convolutions with ReLU in front and batch norm behind each. Children are named by their place in
// a list of ReLU, convolution, norm, ReLU, ...: "1", "2", "4", "5", ...
class ReluConvNorms : public nn::Module {
 public:
  explicit ReluConvNorms(const std::vector<nn::Conv2dOptions>& convolutions);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  nn::LayerCost Cost(const Shape& input) const override;

 private:
  std::vector<nn::ConvNorm> chain_;
};

// Half of the height and width, by two 1 x 1 convolutions, one on the even pixels and one on the
// odd ones, side by side, with ReLU in front and batch norm behind. Children "conv1", "conv2",
// "bn". BadInput for an odd height or width.
class FactorizedReduce : public nn::Module {
 public:
  FactorizedReduce(int64_t in, int64_t out, DType dtype);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  nn::LayerCost Cost(const Shape& input) const override;

 private:
  std::shared_ptr<nn::Conv2d> even_, odd_;
  std::shared_ptr<nn::BatchNorm2d> norm_;
};

// Of `channels` in and out. kNone takes stride 1 alone.
std::shared_ptr<nn::Module> MakeOperation(OperationKind kind, int64_t channels, int64_t stride,
                                          DType dtype);

// What PyTorch's convolutions begin with.
nn::Conv2dOptions WithDefaultInit(nn::Conv2dOptions options);

}  // namespace torus::amoebanet
