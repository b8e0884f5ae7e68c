#include "models/resnet/cifar_resnet.h"

#include "models/nn/global_average_pool.h"
#include "models/nn/linear.h"
#include "models/resnet/residual_block.h"
#include "models/resnet/stem.h"
#include "runtime/error.h"

namespace torus {

std::shared_ptr<nn::Sequential> CifarResNet(const CifarResNetOptions& o) {
  Require(o.depth >= 8 && (o.depth - 2) % 6 == 0, "cifar_resnet",
          "depth must be 6 n + 2 and at least 8, got {}", o.depth);
  Require(o.num_classes >= 1, "cifar_resnet", "num_classes must be at least 1, got {}",
          o.num_classes);
  const nn::Initializer init = nn::KaimingNormalFanIn();
  auto model = std::make_shared<nn::Sequential>();
  const nn::Conv2dOptions first{
      .in = 3, .out = 16, .kernel = 3, .padding = 1, .weight_init = init, .dtype = o.dtype};
  model->Add("", std::make_shared<ResNetStem>(first, /*pool=*/false), "conv1");
  int64_t channels = 16, width = 16;
  for (int group = 0; group < 3; ++group, width *= 2) {
    for (int i = 0; i < (o.depth - 2) / 6; ++i) {
      model->Add(fmt::format("layer{}.{}", group + 1, i),
                 std::make_shared<ResidualBlock>(
                     ResidualBlockOptions{.in = channels,
                                          .width = width,
                                          .stride = group > 0 && i == 0 ? 2 : 1,
                                          .shortcut = Shortcut::kPadding,
                                          .weight_init = init,
                                          .dtype = o.dtype}));
      channels = width;
    }
  }
  model->Add("avgpool", std::make_shared<nn::GlobalAveragePool>());
  model->Add("linear",
             std::make_shared<nn::Linear>(nn::LinearOptions{
                 .in = channels, .out = o.num_classes, .weight_init = init, .dtype = o.dtype}));
  return model;
}

}  // namespace torus
