#include "models/vgg/vgg.h"

#include <vector>

#include "models/nn/activation_layers.h"
#include "models/nn/conv_relu.h"
#include "models/nn/dropout.h"
#include "models/nn/flatten_images.h"
#include "models/nn/linear.h"
#include "models/nn/pooling.h"
#include "runtime/error.h"

namespace torus {
namespace {

constexpr int64_t kAfterPool = 7;  // height and width in pixels before the classifier

// Convolutions in each of the five groups of 64, 128, 256, 512 and 512 channels.
std::vector<int> Repeats(int depth) {
  switch (depth) {
    case 11:
      return {1, 1, 2, 2, 2};
    case 13:
      return {2, 2, 2, 2, 2};
    case 16:
      return {2, 2, 3, 3, 3};
    case 19:
      return {2, 2, 4, 4, 4};
    default:
      Throw<BadInput>("vgg", "depth must be 11, 13, 16 or 19, got {}", depth);
  }
}

int64_t AddFeatures(const VggOptions& o, nn::Sequential& model) {
  const int64_t channels_of[] = {64, 128, 256, 512, 512};
  int64_t place = 0, in = 3;
  const std::vector<int> repeats = Repeats(o.depth);
  for (size_t group = 0; group < repeats.size(); ++group) {
    const int64_t out = channels_of[group];
    for (int i = 0; i < repeats[group]; ++i) {
      const nn::Conv2dOptions convolution{.in = in,
                                          .out = out,
                                          .kernel = 3,
                                          .padding = 1,
                                          .weight_init = nn::KaimingNormalFanOut(),
                                          .bias_init = nn::Constant(0),
                                          .dtype = o.dtype};
      model.Add("features", std::make_shared<nn::ConvRelu>(convolution, o.batch_norm, place),
                fmt::format("features.{}", place));
      place += o.batch_norm ? 3 : 2;
      in = out;
    }
    model.Add(fmt::format("features.{}", place++),
              std::make_shared<nn::MaxPool2d>(nn::PoolOptions{.kernel = 2, .stride = 2}));
  }
  return in;
}

// A linear layer of the classifier, named by its index in torchvision's list, with the ReLU and
// dropout that follow it.
void AddLinear(const VggOptions& o, int64_t in, int64_t out, int64_t place, uint64_t dropout,
               nn::Sequential& model) {
  auto layer = std::make_shared<nn::Sequential>();
  layer->Add(std::to_string(place),
             std::make_shared<nn::Linear>(nn::LinearOptions{.in = in,
                                                            .out = out,
                                                            .weight_init = nn::Normal(0, 0.01),
                                                            .bias_init = nn::Constant(0),
                                                            .dtype = o.dtype}));
  if (place < 6) {
    layer->Add(std::to_string(place + 1), std::make_shared<nn::Relu>());
    layer->Add(std::to_string(place + 2), std::make_shared<nn::Dropout>(o.dropout, dropout));
  }
  model.Add("classifier", layer, fmt::format("classifier.{}", place));
}

}  // namespace

std::shared_ptr<nn::Sequential> Vgg(const VggOptions& o) {
  Require(o.num_classes >= 1 && o.hidden >= 1, "vgg",
          "num_classes and hidden must be at least 1, got {} and {}", o.num_classes, o.hidden);
  auto model = std::make_shared<nn::Sequential>();
  const int64_t channels = AddFeatures(o, *model);
  auto pool = std::make_shared<nn::Sequential>();
  pool->Add(std::make_shared<nn::AdaptiveAvgPool2d>(kAfterPool));
  pool->Add(std::make_shared<nn::FlattenImages>());
  model->Add("avgpool", pool);
  AddLinear(o, channels * kAfterPool * kAfterPool, o.hidden, 0, /*dropout=*/0, *model);
  AddLinear(o, o.hidden, o.hidden, 3, /*dropout=*/1, *model);
  AddLinear(o, o.hidden, o.num_classes, 6, 0, *model);
  return model;
}

}  // namespace torus
