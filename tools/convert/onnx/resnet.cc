// ResNet's graph (models/resnet), and that of CIFAR's. The names and shapes of the weights say how
// many blocks there are, and of what kind.
#include <fmt/format.h>

#include "tools/convert/onnx/families.h"
#include "tools/convert/onnx/image_layers.h"

namespace torus::onnx {
namespace {

// Every other pixel, and zeros for new channels, half on each side (Shortcut::kPadding).
std::string PaddedShortcut(Graph& graph, const std::string& x, int64_t stride, int64_t grown) {
  const std::string fewer = graph.Node("AveragePool", {x},
                                       {{"kernel_shape", std::vector<int64_t>{1, 1}},
                                        {"strides", std::vector<int64_t>{stride, stride}}});
  const int64_t before = grown / 2;
  return graph.Node("Pad", {fewer, graph.Wholes({0, before, 0, 0, 0, grown - before, 0, 0})});
}

std::string Shortcut(Graph& graph, const std::string& x, const std::string& block, int64_t stride,
                     int64_t grown) {
  if (graph.Has(block + ".downsample.0.weight")) {
    const std::string y = Conv(graph, x, block + ".downsample.0", {.stride = stride});
    return BatchNorm(graph, y, block + ".downsample.1");
  }
  return stride == 1 && grown == 0 ? x : PaddedShortcut(graph, x, stride, grown);
}

std::string Block(Graph& graph, const std::string& x, const std::string& block, int64_t stride) {
  const bool bottleneck = graph.Has(block + ".conv3.weight");
  const int layers = bottleneck ? 3 : 2, strided = bottleneck ? 2 : 1;
  const auto weight = [&](int layer) {
    return graph.ShapeOf(fmt::format("{}.conv{}.weight", block, layer));
  };
  std::string y = x;
  for (int i = 1; i <= layers; ++i) {
    if (i > 1) y = graph.Node("Relu", {y});
    y = Conv(graph, y, fmt::format("{}.conv{}", block, i),
             {.stride = i == strided ? stride : 1, .padding = weight(i)[2] / 2});
    y = BatchNorm(graph, y, fmt::format("{}.bn{}", block, i));
  }
  const int64_t grown = weight(layers)[0] - weight(1)[1];
  return graph.Node("Relu", {graph.Node("Add", {y, Shortcut(graph, x, block, stride, grown)})});
}

// The 7 x 7 convolution of the large images' models has a stride, and max pooling behind it.
std::string Stem(Graph& graph, const std::string& images) {
  const int64_t kernel = graph.ShapeOf("conv1.weight")[2];
  const bool large = kernel == 7;
  std::string x = Conv(graph, images, "conv1", {.stride = large ? 2 : 1, .padding = kernel / 2});
  x = graph.Node("Relu", {BatchNorm(graph, x, "bn1")});
  return large ? MaxPool(graph, x, 3, 2, 1) : x;
}

}  // namespace

void AddResNet(Graph& graph, const Source&) {
  std::string x = Stem(graph, Images(graph, "height", "width"));
  for (int group = 1; graph.Has(fmt::format("layer{}.0.conv1.weight", group)); ++group) {
    for (int i = 0;; ++i) {
      const std::string block = fmt::format("layer{}.{}", group, i);
      if (!graph.Has(block + ".conv1.weight")) break;
      x = Block(graph, x, block, group > 1 && i == 0 ? 2 : 1);
    }
  }
  Classify(graph, GlobalAveragePool(graph, x), graph.Has("fc.weight") ? "fc" : "linear");
}

}  // namespace torus::onnx
