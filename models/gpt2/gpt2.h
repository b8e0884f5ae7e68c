// GPT-2 (Radford et al. 2019, "Language models are unsupervised multitask learners") with the
// names, options and initialization of transformers' GPT2LMHeadModel.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/nn/sequential.h"

namespace torus {

// Names and defaults are those of transformers' config.json. Members without a comment are those of
// the config's names; dtype is that of the parameters.
struct Gpt2Options {
  int64_t vocab_size = 50257;
  int64_t n_positions = 1024;
  int64_t n_embd = 768;
  int64_t n_layer = 12;
  int64_t n_head = 12;
  std::optional<int64_t> n_inner = {};  // 4 n_embd where absent
  std::string activation_function = "gelu_new";
  double resid_pdrop = 0.1, embd_pdrop = 0.1, attn_pdrop = 0.1;
  double layer_norm_epsilon = 1e-5;
  double initializer_range = 0.02;
  bool scale_attn_weights = true;
  bool scale_attn_by_inverse_layer_idx = false;
  bool tie_word_embeddings = true;
  // The model returns {activation, weight of the head}, and nn::NextTokenLoss multiplies them, so
  // that training never holds all logits at once.
  bool head_in_loss = false;
  bool bias = true;  // of linear layers and norms; nanoGPT's models have none
  DType dtype = DType::kF32;
};

// The other published sizes; Gpt2Options{} is the smallest.
Gpt2Options Gpt2Medium();
Gpt2Options Gpt2Large();
Gpt2Options Gpt2Xl();

// nanoGPT's small character model (its recipe for a CPU): 4 layers and heads, width 128, 64
// positions, exact GELU, no biases, no dropout.
Gpt2Options CharacterGpt(int64_t vocab_size);

// Maps token ids (N, T), and optionally the number of each token's document (N, T), to logits
// (N, T, vocab_size). With 1 for tokens and 0 for padding, these are transformers' attention mask.
// A token attends to its own document alone, in which positions count from 0 (ops/tokens/tokens.h).
//
// Its layers are the embeddings ("transformer.wte"), the blocks "transformer.h.0" ...,
// "transformer.ln_f" and "lm_head", whose weight is that of the embedding if tied. Throws BadInput
// for invalid options, and for more tokens than positions.
std::shared_ptr<nn::Sequential> Gpt2(const Gpt2Options& options = {});

// Shifts labels (N, T), i64, to targets of a causal language model: each position gets the label of
// the next one, and the last gets -100, which cross entropy ignores.
Tensor NextTokens(const Tensor& labels);

}  // namespace torus
