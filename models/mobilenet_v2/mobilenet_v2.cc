#include "models/mobilenet_v2/mobilenet_v2.h"

#include <algorithm>
#include <cmath>

#include "models/mobilenet_v2/inverted_residual.h"
#include "models/nn/conv_bn_relu6.h"
#include "models/nn/dropout.h"
#include "models/nn/global_average_pool.h"
#include "models/nn/linear.h"
#include "runtime/error.h"

namespace torus {
namespace {

void CheckOptions(const MobileNetV2Options& o) {
  Require(o.num_classes >= 1, "mobilenet_v2", "num_classes must be at least 1, got {}",
          o.num_classes);
  Require(o.width_mult > 0 && std::isfinite(o.width_mult), "mobilenet_v2",
          "width_mult must be positive, got {}", o.width_mult);
  Require(o.round_nearest >= 1, "mobilenet_v2", "round_nearest must be at least 1, got {}",
          o.round_nearest);
  Require(!o.settings.empty(), "mobilenet_v2", "needs at least one inverted residual setting");
  for (const InvertedResidualSetting& s : o.settings)
    Require(s.expansion >= 1 && s.channels >= 1 && s.repeats >= 0 && s.stride >= 1, "mobilenet_v2",
            "an inverted residual setting needs expansion, channels and stride of at least 1 and "
            "repeats of at least 0, got {}, {}, {} and {}",
            s.expansion, s.channels, s.stride, s.repeats);
}

std::shared_ptr<nn::Sequential> Classifier(const MobileNetV2Options& o, int64_t in) {
  auto classifier = std::make_shared<nn::Sequential>();
  // The model's only dropout, hence its number 0.
  classifier->Add(std::make_shared<nn::Dropout>(o.dropout, /*layer=*/0));
  classifier->Add(std::make_shared<nn::Linear>(nn::LinearOptions{.in = in,
                                                                 .out = o.num_classes,
                                                                 .weight_init = nn::Normal(0, 0.01),
                                                                 .bias_init = nn::Constant(0),
                                                                 .dtype = o.dtype}));
  return classifier;
}

}  // namespace

std::vector<InvertedResidualSetting> MobileNetV2Settings() {
  return {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
}

int64_t MakeDivisible(double value, int64_t divisor) {
  const double d = static_cast<double>(divisor);
  int64_t rounded = std::max(divisor, static_cast<int64_t>(value + d / 2) / divisor * divisor);
  if (static_cast<double>(rounded) < 0.9 * value) rounded += divisor;
  return rounded;
}

std::shared_ptr<nn::Sequential> MobileNetV2(const MobileNetV2Options& o) {
  CheckOptions(o);
  auto model = std::make_shared<nn::Sequential>();
  auto add = [&](auto layer) {
    model->Add(fmt::format("features.{}", model->layers().size()), std::move(layer));
  };
  int64_t channels = MakeDivisible(32 * o.width_mult, o.round_nearest);
  add(std::make_shared<nn::ConvBnRelu6>(nn::Conv2dOptions{
      .in = 3, .out = channels, .kernel = 3, .stride = 2, .padding = 1, .dtype = o.dtype}));
  for (const InvertedResidualSetting& s : o.settings) {
    const int64_t out =
        MakeDivisible(static_cast<double>(s.channels) * o.width_mult, o.round_nearest);
    for (int64_t i = 0; i < s.repeats; ++i) {
      add(std::make_shared<InvertedResidual>(
          InvertedResidualOptions{.in = channels,
                                  .out = out,
                                  .stride = i == 0 ? s.stride : 1,
                                  .expansion = s.expansion,
                                  .dtype = o.dtype}));
      channels = out;
    }
  }
  const int64_t last = MakeDivisible(1280 * std::max(1.0, o.width_mult), o.round_nearest);
  add(std::make_shared<nn::ConvBnRelu6>(
      nn::Conv2dOptions{.in = channels, .out = last, .dtype = o.dtype}));
  model->Add("avgpool", std::make_shared<nn::GlobalAveragePool>());
  model->Add("classifier", Classifier(o, last));
  return model;
}

}  // namespace torus
