#include "models/nn/transformer.h"

#include "runtime/error.h"

namespace torus::nn {
namespace {

template <class Layer>
std::vector<std::shared_ptr<Layer>> MakeLayers(TransformerLayerOptions options, int64_t count) {
  Require(count >= 1, "transformer", "needs at least one layer, got {}", count);
  std::vector<std::shared_ptr<Layer>> layers;
  for (int64_t i = 0; i < count; ++i, options.dropout_layer += Layer::kDropoutLayers)
    layers.push_back(std::make_shared<Layer>(options));
  return layers;
}

std::shared_ptr<LayerNorm> MakeNorm(const TransformerLayerOptions& o) {
  return std::make_shared<LayerNorm>(LayerNormOptions{
      .width = o.d_model, .eps = o.layer_norm_eps, .bias = o.bias, .dtype = o.dtype});
}

}  // namespace

TransformerEncoder::TransformerEncoder(const TransformerLayerOptions& options, int64_t num_layers,
                                       bool norm)
    : layers_(MakeLayers<TransformerEncoderLayer>(options, num_layers)) {
  for (size_t i = 0; i < layers_.size(); ++i) AddChild(fmt::format("layers.{}", i), layers_[i]);
  if (norm) norm_ = AddChild("norm", MakeNorm(options));
}

Variable TransformerEncoder::Encode(const Variable& src, const AttentionMasks& masks,
                                    const StepContext& ctx) {
  Variable x = src;
  for (const auto& layer : layers_) x = layer->Encode(x, masks, ctx);
  return norm_ ? norm_->Forward(x, ctx) : x;
}

Variable TransformerEncoder::Forward(const Variable& x, const StepContext& ctx) {
  return Encode(x, {}, ctx);
}

std::vector<Variable> TransformerEncoder::ForwardAll(const std::vector<Variable>& inputs,
                                                     const StepContext& ctx) {
  std::vector<Variable> values = inputs;
  for (const auto& layer : layers_) values = layer->ForwardAll(values, ctx);
  if (norm_) values[0] = norm_->Forward(values[0], ctx);
  return values;
}

TransformerDecoder::TransformerDecoder(const TransformerLayerOptions& options, int64_t num_layers,
                                       bool norm)
    : layers_(MakeLayers<TransformerDecoderLayer>(options, num_layers)) {
  for (size_t i = 0; i < layers_.size(); ++i) AddChild(fmt::format("layers.{}", i), layers_[i]);
  if (norm) norm_ = AddChild("norm", MakeNorm(options));
}

Variable TransformerDecoder::Decode(const Variable& tgt, const Variable& memory,
                                    const AttentionMasks& tgt_masks,
                                    const AttentionMasks& memory_masks, const StepContext& ctx) {
  Variable x = tgt;
  for (const auto& layer : layers_) x = layer->Decode(x, memory, tgt_masks, memory_masks, ctx);
  return norm_ ? norm_->Forward(x, ctx) : x;
}

Variable TransformerDecoder::Forward(const Variable& x, const StepContext& ctx) {
  return layers_[0]->Forward(x, ctx);
}

std::vector<Variable> TransformerDecoder::ForwardAll(const std::vector<Variable>& inputs,
                                                     const StepContext& ctx) {
  std::vector<Variable> values = inputs;
  for (const auto& layer : layers_) values = layer->ForwardAll(values, ctx);
  if (norm_) values[0] = norm_->Forward(values[0], ctx);
  return values;
}

}  // namespace torus::nn
