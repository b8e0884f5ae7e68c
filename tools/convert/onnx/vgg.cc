// VGG's graph (models/vgg). The numbers in the weights' names say where poolings stand.
#include <fmt/format.h>

#include "ops/pooling/average_pool.h"
#include "runtime/error.h"
#include "runtime/factories.h"
#include "tools/convert/onnx/families.h"
#include "tools/convert/onnx/image_layers.h"

namespace torus::onnx {
namespace {

constexpr int64_t kAfterPool = 7;  // height and width in pixels before the classifier
constexpr int64_t kShrinks = 32;   // five poolings halve height and width

// The adaptive pooling of one axis as a matrix (out, in): what it makes of the identity's columns.
Tensor PoolMatrix(int64_t in, int64_t out) {
  const Variable identity(Eye(in).Reshape({1, in, in, 1}));
  return ops::AdaptiveAvgPool2d(identity, {out, in}).data().Reshape({out, in});
}

// ONNX has no adaptive pooling, but with a fixed size it is two products: M x M^T.
std::string Pool(Graph& graph, const std::string& x, int64_t size) {
  if (size == kAfterPool) return x;
  const Tensor matrix = PoolMatrix(size, kAfterPool);
  const std::string rows = graph.Node("MatMul", {graph.Constant("pool_rows", matrix), x});
  const Tensor turned = matrix.Transpose(0, 1);
  return graph.Node("MatMul", {rows, graph.Constant("pool_columns", turned)});
}

std::string Features(Graph& graph, std::string x) {
  const auto has = [&](int place, const char* what) {
    return graph.Has(fmt::format("features.{}.{}", place, what));
  };
  int place = 0;
  for (; has(place, "weight"); ++place) {  // each round ends at a pooling
    while (has(place, "weight")) {
      x = Conv(graph, x, fmt::format("features.{}", place++), {.padding = 1});
      if (has(place, "running_mean")) x = BatchNorm(graph, x, fmt::format("features.{}", place++));
      x = graph.Node("Relu", {x});
      ++place;
    }
    x = MaxPool(graph, x, 2, 2);
  }
  return x;
}

}  // namespace

void AddVgg(Graph& graph, const Source& source) {
  Require(source.image_size >= kShrinks, "onnx", "VGG takes images of at least {0} x {0}, got {1}",
          kShrinks, source.image_size);
  std::string x = Features(graph, Images(graph, source.image_size, source.image_size));
  x = graph.Node("Flatten", {Pool(graph, x, source.image_size / kShrinks)});
  for (const char* layer : {"classifier.0", "classifier.3"})
    x = graph.Node("Relu", {LinearOfRows(graph, x, layer)});
  Classify(graph, x, "classifier.6");
}

}  // namespace torus::onnx
