#include "tools/convert/onnx/text_layers.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "models/nn/activation.h"
#include "runtime/error.h"

namespace torus::onnx {
namespace {

std::string Plus(Graph& graph, const std::string& x, const std::string& bias) {
  return bias.empty() ? x : graph.Node("Add", {x, bias});
}

// x (1 + f) / 2.
std::string Half(Graph& graph, const std::string& x, const std::string& f) {
  const std::string sum = graph.Node("Add", {f, graph.Number(1)});
  return graph.Node("Mul", {graph.Node("Mul", {x, sum}), graph.Number(0.5)});
}

std::string Gelu(Graph& graph, const std::string& x) {
  const std::string scaled = graph.Node("Mul", {x, graph.Number(1 / std::numbers::sqrt2)});
  return Half(graph, x, graph.Node("Erf", {scaled}));
}

// sqrt(2 / pi) (x + 0.044715 x^3) within the tanh.
std::string GeluTanh(Graph& graph, const std::string& x) {
  const std::string square = graph.Node("Mul", {x, x});
  const std::string scaled = graph.Node("Mul", {square, graph.Number(0.044715)});
  const std::string factor = graph.Node("Add", {scaled, graph.Number(1)});
  const std::string inner = graph.Node("Mul", {x, factor});
  const double scale = std::sqrt(2 / std::numbers::pi);
  const std::string within = graph.Node("Mul", {inner, graph.Number(scale)});
  return Half(graph, x, graph.Node("Tanh", {within}));
}

// x sigmoid(factor x).
std::string Swish(Graph& graph, const std::string& x, double factor) {
  const std::string scaled = factor == 1 ? x : graph.Node("Mul", {x, graph.Number(factor)});
  return graph.Node("Mul", {x, graph.Node("Sigmoid", {scaled})});
}

// (N, T, heads x width) to (N, heads, T, width), or as `order` has it.
std::string ToHeads(Graph& graph, const std::string& x, int64_t heads,
                    const std::vector<int64_t>& order) {
  const std::string apart = graph.Node("Reshape", {x, graph.Wholes({0, 0, heads, -1})});
  return graph.Node("Transpose", {apart}, {{"perm", order}});
}

}  // namespace

std::string Linear(Graph& graph, const std::string& x, const std::string& weight,
                   const std::string& bias) {
  const std::string turned =
      graph.Node("Transpose", {graph.Weight(weight)}, {{"perm", std::vector<int64_t>{1, 0}}});
  return Plus(graph, graph.Node("MatMul", {x, turned}), bias.empty() ? "" : graph.Weight(bias));
}

std::string Linear(Graph& graph, const std::string& x, const std::string& prefix) {
  return Linear(graph, x, prefix + ".weight", prefix + ".bias");
}

std::string LinearInOut(Graph& graph, const std::string& x, const std::string& prefix) {
  return Plus(graph, graph.Node("MatMul", {x, graph.Weight(prefix + ".weight")}),
              graph.WeightIfAny(prefix + ".bias"));
}

std::string LayerNorm(Graph& graph, const std::string& x, const std::string& prefix, double eps) {
  return graph.Node("LayerNormalization",
                    {x, graph.Weight(prefix + ".weight"), graph.WeightIfAny(prefix + ".bias")},
                    {{"axis", int64_t{-1}}, {"epsilon", static_cast<float>(eps)}});
}

std::string Activation(Graph& graph, const std::string& x, const std::string& name,
                       const std::string& where) {
  const nn::ActivationFn function = nn::ActivationByName(name, where);
  const auto is = [&](const char* other) { return function == nn::ActivationByName(other, where); };
  if (is("gelu")) return Gelu(graph, x);
  if (is("gelu_new")) return GeluTanh(graph, x);
  if (is("quick_gelu")) return Swish(graph, x, 1.702);
  if (is("silu")) return Swish(graph, x, 1);
  if (is("relu")) return graph.Node("Relu", {x});
  if (is("tanh")) return graph.Node("Tanh", {x});
  TORUS_CHECK(is("sigmoid"), "{} has no ONNX form", name);
  return graph.Node("Sigmoid", {x});
}

std::string FirstToken(Graph& graph, const std::string& x) {
  return graph.Node("Slice", {x, graph.Wholes({0}), graph.Wholes({1}), graph.Wholes({1})});
}

std::string FirstRow(Graph& graph, const std::string& x) {
  return graph.Node("Gather", {x, graph.Whole(0)}, {{"axis", int64_t{1}}});
}

std::string Attention(Graph& graph, const std::string& q, const std::string& k,
                      const std::string& v, const Heads& heads) {
  const std::string queries = ToHeads(graph, q, heads.count, {0, 2, 1, 3});
  const std::string keys = ToHeads(graph, k, heads.count, {0, 2, 3, 1});
  const std::string values = ToHeads(graph, v, heads.count, {0, 2, 1, 3});
  const std::string scaled = graph.Node("Mul", {queries, graph.Number(heads.scale)});
  std::string scores = graph.Node("MatMul", {scaled, keys});
  if (!heads.mask.empty()) {
    const std::string least = graph.Number(std::numeric_limits<float>::lowest());
    scores = graph.Node("Where", {heads.mask, scores, least});
  }
  const std::string weights = graph.Node("Softmax", {scores}, {{"axis", int64_t{-1}}});
  const std::string attended = graph.Node("Transpose", {graph.Node("MatMul", {weights, values})},
                                          {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return graph.Node("Reshape", {attended, graph.Wholes({0, 0, -1})});
}

std::vector<std::string> SplitInThree(Graph& graph, const std::string& qkv) {
  return graph.Nodes("Split", {qkv}, 3, {{"axis", int64_t{-1}}});
}

}  // namespace torus::onnx
