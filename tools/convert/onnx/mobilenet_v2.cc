// MobileNetV2's graph (models/mobilenet_v2).
#include "models/mobilenet_v2/mobilenet_v2.h"

#include <fmt/format.h>

#include "tools/convert/onnx/families.h"
#include "tools/convert/onnx/image_layers.h"

namespace torus::onnx {
namespace {

// The convolution and batch norm at `prefix`.0 and .1, and ReLU6.
std::string ConvBnRelu6(Graph& graph, const std::string& x, const std::string& prefix,
                        const Convolution& options) {
  const std::string y = Conv(graph, x, prefix + ".0", options);
  return Relu6(graph, BatchNorm(graph, y, prefix + ".1"));
}

std::string Residual(Graph& graph, const std::string& x, const std::string& block, int64_t stride) {
  int place = 0;
  const auto name = [&](int at) { return fmt::format("{}.conv.{}", block, at); };
  const int64_t in = graph.ShapeOf(name(0) + ".0.weight")[1];
  const bool expands = graph.Has(name(1) + ".0.weight");
  std::string y = expands ? ConvBnRelu6(graph, x, name(place++), {}) : x;
  const int64_t hidden = graph.ShapeOf(name(place) + ".0.weight")[0];
  y = ConvBnRelu6(graph, y, name(place++), {.stride = stride, .padding = 1, .groups = hidden});
  const int64_t out = graph.ShapeOf(name(place) + ".weight")[0];
  y = Conv(graph, y, name(place), {});
  y = BatchNorm(graph, y, name(place + 1));
  const bool adds = stride == 1 && (expands ? in : hidden) == out;
  return adds ? graph.Node("Add", {x, y}) : y;
}

}  // namespace

void AddMobileNetV2(Graph& graph, const Source&) {
  int place = 0;
  const auto name = [&] { return fmt::format("features.{}", place++); };
  std::string x = Images(graph, "height", "width");
  x = ConvBnRelu6(graph, x, name(), {.stride = 2, .padding = 1});
  for (const InvertedResidualSetting& s : MobileNetV2Settings())
    for (int64_t i = 0; i < s.repeats; ++i) x = Residual(graph, x, name(), i == 0 ? s.stride : 1);
  x = ConvBnRelu6(graph, x, name(), {});
  Classify(graph, GlobalAveragePool(graph, x), "classifier.1");
}

}  // namespace torus::onnx
