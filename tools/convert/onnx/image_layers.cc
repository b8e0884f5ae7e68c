#include "tools/convert/onnx/image_layers.h"

#include "models/nn/batch_norm2d.h"

namespace torus::onnx {

std::string Images(Graph& graph, const Size& height, const Size& width) {
  return graph.Input("images", TensorProto::FLOAT, {"batch", int64_t{3}, height, width},
                     "red, green and blue, normalized as in training");
}

std::string Conv(Graph& graph, const std::string& x, const std::string& prefix,
                 const Convolution& o) {
  const std::string weight = graph.Weight(prefix + ".weight");
  return graph.Node("Conv", {x, weight, graph.WeightIfAny(prefix + ".bias")},
                    {{"strides", std::vector<int64_t>(2, o.stride)},
                     {"pads", std::vector<int64_t>(4, o.padding)},
                     {"group", o.groups}});
}

std::string BatchNorm(Graph& graph, const std::string& x, const std::string& prefix) {
  const auto weight = [&](const char* name) { return graph.Weight(prefix + name); };
  const double eps = nn::BatchNorm2dOptions{}.eps;
  return graph.Node(
      "BatchNormalization",
      {x, weight(".weight"), weight(".bias"), weight(".running_mean"), weight(".running_var")},
      {{"epsilon", static_cast<float>(eps)}});
}

std::string Relu6(Graph& graph, const std::string& x) {
  return graph.Node("Clip", {x, graph.Number(0), graph.Number(6)});
}

std::string MaxPool(Graph& graph, const std::string& x, int64_t kernel, int64_t stride,
                    int64_t padding) {
  return graph.Node("MaxPool", {x},
                    {{"kernel_shape", std::vector<int64_t>(2, kernel)},
                     {"strides", std::vector<int64_t>(2, stride)},
                     {"pads", std::vector<int64_t>(4, padding)}});
}

std::string GlobalAveragePool(Graph& graph, const std::string& x) {
  return graph.Node("Flatten", {graph.Node("GlobalAveragePool", {x})});
}

std::string LinearOfRows(Graph& graph, const std::string& x, const std::string& prefix) {
  return graph.Node("Gemm", {x, graph.Weight(prefix + ".weight"), graph.Weight(prefix + ".bias")},
                    {{"transB", int64_t{1}}});
}

void Classify(Graph& graph, const std::string& x, const std::string& prefix) {
  const int64_t classes = graph.ShapeOf(prefix + ".weight")[0];
  graph.Output(LinearOfRows(graph, x, prefix), "logits", {"batch", classes});
}

}  // namespace torus::onnx
