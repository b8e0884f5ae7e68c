#include "models/resnet/resnet.h"

#include <vector>

#include "models/nn/global_average_pool.h"
#include "models/nn/linear.h"
#include "models/resnet/residual_block.h"
#include "models/resnet/stem.h"
#include "runtime/error.h"

namespace torus {
namespace {

// Blocks in each of the four groups.
std::vector<int> Repeats(int depth) {
  switch (depth) {
    case 18:
      return {2, 2, 2, 2};
    case 34:
    case 50:
      return {3, 4, 6, 3};
    case 101:
      return {3, 4, 23, 3};
    default:
      Throw<BadInput>("resnet", "depth must be 18, 34, 50 or 101, got {}", depth);
  }
}

}  // namespace

std::shared_ptr<nn::Sequential> ResNet(const ResNetOptions& o) {
  Require(o.num_classes >= 1, "resnet", "num_classes must be at least 1, got {}", o.num_classes);
  const std::vector<int> repeats = Repeats(o.depth);
  auto model = std::make_shared<nn::Sequential>();
  const nn::Conv2dOptions first{
      .in = 3, .out = 64, .kernel = 7, .stride = 2, .padding = 3, .dtype = o.dtype};
  model->Add("", std::make_shared<ResNetStem>(first, /*pool=*/true), "conv1");
  int64_t channels = 64, width = 64;
  for (size_t group = 0; group < repeats.size(); ++group, width *= 2) {
    for (int i = 0; i < repeats[group]; ++i) {
      auto block = std::make_shared<ResidualBlock>(
          ResidualBlockOptions{.in = channels,
                               .width = width,
                               .stride = group > 0 && i == 0 ? 2 : 1,
                               .bottleneck = o.depth >= 50,
                               .dtype = o.dtype});
      channels = block->out();
      model->Add(fmt::format("layer{}.{}", group + 1, i), block);
    }
  }
  model->Add("avgpool", std::make_shared<nn::GlobalAveragePool>());
  model->Add("fc", std::make_shared<nn::Linear>(
                       nn::LinearOptions{.in = channels, .out = o.num_classes, .dtype = o.dtype}));
  return model;
}

}  // namespace torus
