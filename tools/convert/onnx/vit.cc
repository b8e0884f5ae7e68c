// The Vision Transformer's graph (models/vit).
#include <cmath>

#include "models/vit/block.h"
#include "tools/convert/onnx/families.h"
#include "tools/convert/onnx/image_layers.h"
#include "tools/convert/onnx/text_layers.h"

namespace torus::onnx {
namespace {

// Height and width of images: there is a position for each patch, and one for the class token.
int64_t SizeOf(Graph& graph) {
  const int64_t patches = graph.ShapeOf("encoder.pos_embedding")[1] - 1;
  const int64_t side = std::lround(std::sqrt(static_cast<double>(patches)));
  return side * graph.ShapeOf("conv_proj.weight")[2];
}

// (N, patches, width), a row of patches after the other.
std::string Patches(Graph& graph, const std::string& images) {
  const Shape weight = graph.ShapeOf("conv_proj.weight");
  const std::string x = Conv(graph, images, "conv_proj", {.stride = weight[2]});
  const std::string flat = graph.Node("Reshape", {x, graph.Wholes({0, 0, -1})});
  return graph.Node("Transpose", {flat}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
}

// The class token in front of the patches of each image, and positions.
std::string Tokens(Graph& graph, const std::string& images) {
  const std::string patches = Patches(graph, images);
  const std::string batch = graph.Node("Shape", {images}, {{"end", int64_t{1}}});
  const std::string sizes =
      graph.Node("Concat", {batch, graph.Wholes({1, 1})}, {{"axis", int64_t{0}}});
  const std::string first = graph.Node("Expand", {graph.Weight("class_token"), sizes});
  const std::string all = graph.Node("Concat", {first, patches}, {{"axis", int64_t{1}}});
  return graph.Node("Add", {all, graph.Weight("encoder.pos_embedding")});
}

std::string Block(Graph& graph, const std::string& x, const std::string& block, int64_t heads) {
  const int64_t width = graph.ShapeOf("class_token")[2];
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  const std::string read = LayerNorm(graph, x, block + ".ln_1", VitBlock::kNormEps);
  const std::string attention = block + ".self_attention.";
  const std::vector<std::string> qkv = SplitInThree(
      graph, Linear(graph, read, attention + "in_proj_weight", attention + "in_proj_bias"));
  std::string y = Attention(graph, qkv[0], qkv[1], qkv[2], {.count = heads, .scale = scale});
  const std::string attended = graph.Node("Add", {x, Linear(graph, y, attention + "out_proj")});
  y = LayerNorm(graph, attended, block + ".ln_2", VitBlock::kNormEps);
  y = Activation(graph, Linear(graph, y, block + ".mlp.0"), "gelu", "vit");
  return graph.Node("Add", {attended, Linear(graph, y, block + ".mlp.3")});
}

}  // namespace

void AddVit(Graph& graph, const Source& source) {
  const int64_t heads = source.config.at("num_heads"), size = SizeOf(graph);
  std::string x = Tokens(graph, Images(graph, size, size));
  for (int64_t i = 0;; ++i) {
    const std::string block = fmt::format("encoder.layers.encoder_layer_{}", i);
    if (!graph.Has(block + ".ln_1.weight")) break;
    x = Block(graph, x, block, heads);
  }
  x = FirstRow(graph, LayerNorm(graph, x, "encoder.ln", VitBlock::kNormEps));
  if (graph.Has("heads.pre_logits.weight"))
    x = graph.Node("Tanh", {LinearOfRows(graph, x, "heads.pre_logits")});
  Classify(graph, x, "heads.head");
}

}  // namespace torus::onnx
