// Llama (Touvron et al. 2023, arXiv:2302.13971 and 2307.09288; Grattafiori et al. 2024,
// arXiv:2407.21783) with the names, options and initialization of transformers' LlamaForCausalLM.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/nn/sequential.h"
#include "ops/rotary/rotary_angles.h"

namespace torus {

// Names and defaults are those of transformers' LlamaConfig.
// Members without a comment are those of the config's names, rope is its rope_theta and
// rope_scaling, and dtype is that of the parameters.
struct LlamaOptions {
  int64_t vocab_size = 32000;
  int64_t hidden_size = 4096;
  int64_t intermediate_size = 11008;
  int64_t num_hidden_layers = 32;
  int64_t num_attention_heads = 32;
  std::optional<int64_t> num_key_value_heads = {};  // num_attention_heads where absent
  std::optional<int64_t> head_dim = {};  // hidden_size / num_attention_heads where absent
  std::string hidden_act = "silu";
  int64_t max_position_embeddings = 2048;  // of the decoder; the model itself takes longer texts
  double initializer_range = 0.02;
  double rms_norm_eps = 1e-6;
  std::optional<int64_t> pad_token_id = {};  // its embedding starts as zeros and is not trained
  bool tie_word_embeddings = false;
  ops::RotaryFrequencies rope = {};
  bool attention_bias = false, mlp_bias = false;
  double attention_dropout = 0;
  // As Gpt2Options.
  bool head_in_loss = false;
  DType dtype = DType::kF32;

  // What holds where num_key_value_heads and head_dim are absent or not: heads of key and value,
  // and width_of_head, the width of one.
  int64_t key_value_heads() const { return num_key_value_heads.value_or(num_attention_heads); }
  int64_t width_of_head() const { return head_dim.value_or(hidden_size / num_attention_heads); }
};

// Llama 2 with 7 billion weights.
LlamaOptions Llama2();

// Llama 3.1 with 8 billion weights.
LlamaOptions Llama31();

// The width of the MLP by the rule of Llama's authors: 8/3 of the model's width, rounded up to a
// multiple of 256.
int64_t LlamaIntermediateSize(int64_t hidden_size);

// Maps token ids (N, T), and optionally the number of each token's document (N, T), to logits (N,
// T, vocab_size). With 1 for tokens and 0 for padding, these are transformers' attention mask. A
// token attends to its own document alone. Positions count on from one document to the next: rotary
// ones change a score by their difference only.
//
// Its layers are the embeddings ("model.embed_tokens"), the blocks "model.layers.0" ...,
// "model.norm" and "lm_head", whose weight is that of the embedding if tied. Throws BadInput for
// invalid options.
std::shared_ptr<nn::Sequential> Llama(const LlamaOptions& options = {});

}  // namespace torus
