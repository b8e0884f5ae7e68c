// RoBERTa's graph (models/roberta), with the head of a classifier or of a masked language model.
#include <cmath>

#include "models/roberta/config.h"
#include "tools/convert/onnx/families.h"
#include "tools/convert/onnx/text_layers.h"

namespace torus::onnx {
namespace {

constexpr char kEmbeddings[] = "roberta.embeddings.";

struct Plan {
  RobertaOptions options;
  std::string mask;  // (N, 1, 1, T): true for tokens
};

std::string Look(Graph& graph, const std::string& table, const std::string& ids) {
  const std::string weight = graph.Weight(kEmbeddings + table + "_embeddings.weight");
  return graph.Node("Gather", {weight, ids});
}

// Tokens count from padding + 1, and padding itself has position `padding`
// (ops::PositionsBehindPadding).
std::string Positions(Graph& graph, const std::string& ids, int64_t padding) {
  const std::string padded = graph.Node("Equal", {ids, graph.Whole(padding)});
  const std::string tokens =
      graph.Node("Cast", {graph.Node("Not", {padded})}, {{"to", int64_t{TensorProto::INT64}}});
  const std::string counted = graph.Node("CumSum", {tokens, graph.Whole(1)});
  const std::string only = graph.Node("Mul", {counted, tokens});
  return graph.Node("Add", {only, graph.Whole(padding)});
}

std::string Mask(Graph& graph, const std::string& given) {
  const std::string truth = graph.Node("Cast", {given}, {{"to", int64_t{TensorProto::BOOL}}});
  return graph.Node("Unsqueeze", {truth, graph.Wholes({1, 2})});
}

std::string Embed(Graph& graph, const std::string& ids, const RobertaOptions& o) {
  // All tokens are of the first type.
  std::string x =
      graph.Node("Add", {Look(graph, "word", ids), Look(graph, "token_type", graph.Whole(0))});
  x = graph.Node("Add", {x, Look(graph, "position", Positions(graph, ids, o.pad_token_id))});
  return LayerNorm(graph, x, std::string(kEmbeddings) + "LayerNorm", o.layer_norm_eps);
}

// `own`: the tokens of x that the layer puts out.
std::string Layer(Graph& graph, const std::string& x, const std::string& own,
                  const std::string& layer, const Plan& plan) {
  const RobertaOptions& o = plan.options;
  const auto project = [&](const std::string& read, const char* name) {
    return Linear(graph, read, layer + ".attention.self." + name);
  };
  const double width = static_cast<double>(o.hidden_size / o.num_attention_heads);
  const Heads heads{
      .count = o.num_attention_heads, .scale = 1 / std::sqrt(width), .mask = plan.mask};
  const auto after = [&](const std::string& y, const std::string& residual,
                         const std::string& name) {
    const std::string sum =
        graph.Node("Add", {Linear(graph, y, layer + name + ".dense"), residual});
    return LayerNorm(graph, sum, layer + name + ".LayerNorm", o.layer_norm_eps);
  };
  std::string y =
      Attention(graph, project(own, "query"), project(x, "key"), project(x, "value"), heads);
  const std::string attended = after(y, own, ".attention.output");
  y = Activation(graph, Linear(graph, attended, layer + ".intermediate.dense"), o.hidden_act,
                 "roberta");
  return after(y, attended, ".output");
}

void AddClassifier(Graph& graph, const std::string& x, const RobertaOptions& o) {
  std::string y = graph.Node("Tanh", {Linear(graph, FirstRow(graph, x), "classifier.dense")});
  y = Linear(graph, y, "classifier.out_proj");
  graph.Output(y, "logits", {"batch", o.num_labels});
}

void AddLmHead(Graph& graph, const std::string& x, const RobertaOptions& o) {
  std::string y = Activation(graph, Linear(graph, x, "lm_head.dense"), "gelu", "roberta");
  y = LayerNorm(graph, y, "lm_head.layer_norm", o.layer_norm_eps);
  y = Linear(graph, y, std::string(kEmbeddings) + "word_embeddings.weight", "lm_head.bias");
  graph.Output(y, "logits", {"batch", "length", o.vocab_size});
}

}  // namespace

void AddRoberta(Graph& graph, const Source& source) {
  Plan plan{.options = RobertaFromConfig(source.config, "onnx"), .mask = {}};
  const RobertaOptions& o = plan.options;
  const std::vector<Size> sizes{"batch", "length"};
  const std::string ids = graph.Input("input_ids", TensorProto::INT64, sizes, "tokens");
  const std::string given = graph.Input("attention_mask", TensorProto::INT64, sizes,
                                        "1 for tokens, 0 for padding; each row has a token");
  plan.mask = Mask(graph, given);
  const bool classifies = o.head == RobertaHead::kClassification;
  std::string x = Embed(graph, ids, o);
  for (int64_t i = 0; i < o.num_hidden_layers; ++i) {
    const bool last = i + 1 == o.num_hidden_layers;
    const std::string own = classifies && last ? FirstToken(graph, x) : x;
    x = Layer(graph, x, own, fmt::format("roberta.encoder.layer.{}", i), plan);
  }
  (classifies ? AddClassifier : AddLmHead)(graph, x, o);
}

}  // namespace torus::onnx
