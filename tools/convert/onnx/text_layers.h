// Layers of transformers as ONNX's nodes. Values are (N, T, width); prefixes are names of layers
// in the model's state.
#pragma once

#include <cstdint>
#include <string>

#include "tools/convert/onnx/graph.h"

namespace torus::onnx {

// x W^T + b with the `weight` (out, in) and `bias` of the state; an empty bias is none.
std::string Linear(Graph& graph, const std::string& x, const std::string& weight,
                   const std::string& bias);
// The same with `prefix`.weight and .bias.
std::string Linear(Graph& graph, const std::string& x, const std::string& prefix);
// x W + b with `prefix`.weight (in, out), and .bias where the state has one.
std::string LinearInOut(Graph& graph, const std::string& x, const std::string& prefix);

// `prefix`.weight, and .bias where the state has one.
std::string LayerNorm(Graph& graph, const std::string& x, const std::string& prefix, double eps);

// The activation of nn::ActivationByName, with its errors.
std::string Activation(Graph& graph, const std::string& x, const std::string& name,
                       const std::string& where);

// The first token of each row: (N, 1, width), or (N, width).
std::string FirstToken(Graph& graph, const std::string& x);
std::string FirstRow(Graph& graph, const std::string& x);

struct Heads {
  int64_t count = 1;
  double scale = 1;  // of the scores
  // A bool that broadcasts to (N, heads, T, T), true where a query attends to a key; empty: to all.
  std::string mask = {};
};

// Attention in each head: softmax(q k^T scale) v. A row that may attend to no key takes the mean of
// all values, where nn::MultiheadDotProductAttention gives zeros.
std::string Attention(Graph& graph, const std::string& q, const std::string& k,
                      const std::string& v, const Heads& heads);

// Queries, keys and values of (N, T, 3 width).
std::vector<std::string> SplitInThree(Graph& graph, const std::string& qkv);

}  // namespace torus::onnx
