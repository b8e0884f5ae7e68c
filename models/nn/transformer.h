// Stacks of transformer layers, as torch.nn.TransformerEncoder and TransformerDecoder. Other than
// there, each layer has initial values of its own.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/transformer_layers.h"

namespace torus::nn {

// Children layers.0, layers.1, ..., and norm if there is one behind them. Uses the dropout layer
// numbers from options.dropout_layer, num_layers times kDropoutLayers of the layer.
class TransformerEncoder : public Module {
 public:
  TransformerEncoder(const TransformerLayerOptions& options, int64_t num_layers, bool norm = false);
  // Arguments as TransformerEncoderLayer's; all layers have the same masks.
  Variable Encode(const Variable& src, const AttentionMasks& masks, const StepContext& ctx);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::vector<std::shared_ptr<TransformerEncoderLayer>> layers_;
  std::shared_ptr<LayerNorm> norm_;  // null without
};

// As TransformerEncoder, of TransformerDecoderLayers.
class TransformerDecoder : public Module {
 public:
  TransformerDecoder(const TransformerLayerOptions& options, int64_t num_layers, bool norm = false);
  // Arguments as TransformerDecoderLayer's; all layers have the same masks.
  Variable Decode(const Variable& tgt, const Variable& memory, const AttentionMasks& tgt_masks,
                  const AttentionMasks& memory_masks, const StepContext& ctx);
  // Throws BadInput: it needs the memory.
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;

 private:
  std::vector<std::shared_ptr<TransformerDecoderLayer>> layers_;
  std::shared_ptr<LayerNorm> norm_;  // null without
};

}  // namespace torus::nn
