// GPT-2's graph (models/gpt2).
#include <cmath>

#include "models/gpt2/config.h"
#include "tools/convert/onnx/families.h"
#include "tools/convert/onnx/text_layers.h"

namespace torus::onnx {
namespace {

struct Plan {
  Gpt2Options options;
  std::string mask;  // (T, T): true where a token may attend to another
};

double ScaleOf(const Gpt2Options& o, int64_t block) {
  const double scale =
      o.scale_attn_weights ? 1 / std::sqrt(static_cast<double>(o.n_embd / o.n_head)) : 1;
  return o.scale_attn_by_inverse_layer_idx ? scale / static_cast<double>(block + 1) : scale;
}

// 0, 1, ... up to the length of the rows.
std::string Positions(Graph& graph, const std::string& ids) {
  const std::string sizes = graph.Node("Shape", {ids});
  const std::string length = graph.Node("Gather", {sizes, graph.Whole(1)});
  return graph.Node("Range", {graph.Whole(0), length, graph.Whole(1)});
}

std::string CausalMask(Graph& graph, const std::string& positions) {
  const std::string rows = graph.Node("Unsqueeze", {positions, graph.Wholes({1})});
  return graph.Node("GreaterOrEqual", {rows, positions});
}

std::string Block(Graph& graph, const std::string& x, int64_t number, const Plan& plan) {
  const Gpt2Options& o = plan.options;
  const std::string block = fmt::format("transformer.h.{}", number);
  const std::string read = LayerNorm(graph, x, block + ".ln_1", o.layer_norm_epsilon);
  const std::vector<std::string> qkv =
      SplitInThree(graph, LinearInOut(graph, read, block + ".attn.c_attn"));
  std::string y = Attention(graph, qkv[0], qkv[1], qkv[2],
                            {.count = o.n_head, .scale = ScaleOf(o, number), .mask = plan.mask});
  y = LinearInOut(graph, y, block + ".attn.c_proj");
  const std::string attended = graph.Node("Add", {x, y});
  y = LayerNorm(graph, attended, block + ".ln_2", o.layer_norm_epsilon);
  y = LinearInOut(graph, y, block + ".mlp.c_fc");
  y = Activation(graph, y, o.activation_function, "gpt2");
  return graph.Node("Add", {attended, LinearInOut(graph, y, block + ".mlp.c_proj")});
}

}  // namespace

void AddGpt2(Graph& graph, const Source& source) {
  Plan plan{.options = Gpt2FromConfig(source.config, "onnx"), .mask = {}};
  const std::string ids = graph.Input("input_ids", TensorProto::INT64, {"batch", "length"},
                                      "tokens of texts without padding");
  const std::string positions = Positions(graph, ids);
  plan.mask = CausalMask(graph, positions);
  const std::string words = graph.Weight("transformer.wte.weight");
  std::string x = graph.Node("Gather", {words, ids});
  const std::string table = graph.Weight("transformer.wpe.weight");
  x = graph.Node("Add", {x, graph.Node("Gather", {table, positions})});
  for (int64_t i = 0; i < plan.options.n_layer; ++i) x = Block(graph, x, i, plan);
  x = LayerNorm(graph, x, "transformer.ln_f", plan.options.layer_norm_epsilon);
  const bool own = graph.Has("lm_head.weight");
  x = Linear(graph, x, own ? "lm_head.weight" : "transformer.wte.weight", "");
  graph.Output(x, "logits", {"batch", "length", plan.options.vocab_size});
}

}  // namespace torus::onnx
