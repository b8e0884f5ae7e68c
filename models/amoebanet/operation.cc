#include "models/amoebanet/operation.h"

#include "models/nn/function_layer.h"
#include "models/nn/pooling.h"
#include "ops/activation/activation.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::amoebanet {
namespace {

std::shared_ptr<nn::BatchNorm2d> MakeNorm(int64_t channels, DType dtype) {
  return std::make_shared<nn::BatchNorm2d>(
      nn::BatchNorm2dOptions{.channels = channels, .dtype = dtype});
}

std::shared_ptr<nn::Module> AvgPool(int64_t stride) {
  return std::make_shared<nn::AvgPool2d>(
      nn::PoolOptions{.kernel = 3, .stride = stride, .padding = 1, .count_include_pad = false});
}

// 1 x 1 to a quarter of the channels, `middle`, 1 x 1 back.
std::shared_ptr<nn::Module> Bottleneck(int64_t channels,
                                       const std::vector<nn::Conv2dOptions>& middle, DType dtype) {
  const int64_t narrow = channels / 4;
  std::vector<nn::Conv2dOptions> all{{.in = channels, .out = narrow, .dtype = dtype}};
  for (nn::Conv2dOptions convolution : middle) {
    convolution.in = convolution.out = narrow;
    convolution.dtype = dtype;
    all.push_back(convolution);
  }
  all.push_back({.in = narrow, .out = channels, .dtype = dtype});
  return std::make_shared<ReluConvNorms>(all);
}

}  // namespace

nn::Conv2dOptions WithoutBias(nn::Conv2dOptions o) {
  o.bias = false;
  return o;
}

ReluConvNorms::ReluConvNorms(const std::vector<nn::Conv2dOptions>& convolutions) {
  for (size_t i = 0; i < convolutions.size(); ++i) {
    const nn::Conv2dOptions o = WithoutBias(convolutions[i]);
    nn::ConvNorm layer;
    layer.convolution = AddChild(std::to_string(3 * i + 1), std::make_shared<nn::Conv2d>(o));
    layer.norm = AddChild(std::to_string(3 * i + 2), MakeNorm(o.out, o.dtype));
    if (i + 1 < convolutions.size()) layer.activation = ops::Activation::kRelu;
    chain_.push_back(layer);
  }
}

Variable ReluConvNorms::Forward(const Variable& x, const StepContext& ctx) {
  return nn::RunChain(ops::Relu(x), ctx, chain_, /*residual=*/false);
}

FactorizedReduce::FactorizedReduce(int64_t in, int64_t out, DType dtype) {
  const nn::Conv2dOptions half =
      WithoutBias({.in = in, .out = out / 2, .stride = 2, .dtype = dtype});
  even_ = AddChild("conv1", std::make_shared<nn::Conv2d>(half));
  odd_ = AddChild("conv2", std::make_shared<nn::Conv2d>(half));
  norm_ = AddChild("bn", MakeNorm(out, dtype));
}

Variable FactorizedReduce::Forward(const Variable& x, const StepContext& ctx) {
  Require(x.rank() == 4 && x.dim(1) % 2 == 0 && x.dim(2) % 2 == 0, "amoebanet",
          "a reduction needs an even height and width, got {}", x.shape());
  const Variable y = ops::Relu(x);
  const Variable odd = ops::Narrow(ops::Narrow(y, 1, 1, y.dim(1) - 1), 2, 1, y.dim(2) - 1);
  return norm_->Forward(ops::Cat({even_->Forward(y, ctx), odd_->Forward(odd, ctx)}, 3), ctx);
}

std::shared_ptr<nn::Module> MakeOperation(OperationKind kind, int64_t channels, int64_t stride,
                                          DType dtype) {
  switch (kind) {
    case OperationKind::kNone:
      TORUS_CHECK(stride == 1);
      return std::make_shared<nn::Identity>();
    case OperationKind::kAvgPool3x3:
    case OperationKind::kMaxPool3x3:
      return AvgPool(stride);
    case OperationKind::kMaxPool2x2:
      return std::make_shared<nn::MaxPool2d>(nn::PoolOptions{.kernel = 2, .stride = stride});
    case OperationKind::kConv1x1:
      return std::make_shared<ReluConvNorms>(std::vector<nn::Conv2dOptions>{
          {.in = channels, .out = channels, .stride = stride, .dtype = dtype}});
    case OperationKind::kConv3x3:
      return Bottleneck(channels, {{.kernel = 3, .stride = stride, .padding = 1}}, dtype);
    case OperationKind::kConv1x7_7x1:
      return Bottleneck(channels,
                        {{.kernel = {1, 7}, .stride = {1, stride}, .padding = {0, 3}},
                         {.kernel = {7, 1}, .stride = {stride, 1}, .padding = {3, 0}}},
                        dtype);
  }
  TORUS_CHECK(false);
}

}  // namespace torus::amoebanet
