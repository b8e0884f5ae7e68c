// RoBERTa (Liu et al. 2019, "RoBERTa: a robustly optimized BERT pretraining approach"; the encoder
// of Devlin et al. 2019) with the names, options and initialization of transformers'
// RobertaForSequenceClassification and RobertaForMaskedLM.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/nn/sequential.h"

namespace torus {

// What stands behind the encoder: a classifier of the first token, or the masked LM.
enum class RobertaHead { kClassification, kMaskedLm };

// Names and defaults are those of transformers' config.json. Members without a comment are those of
// the config's names; dtype is that of the parameters.
struct RobertaOptions {
  int64_t vocab_size = 50265;
  int64_t hidden_size = 768;
  int64_t num_hidden_layers = 12;
  int64_t num_attention_heads = 12;
  int64_t intermediate_size = 3072;
  std::string hidden_act = "gelu";
  double hidden_dropout_prob = 0.1;
  double attention_probs_dropout_prob = 0.1;
  std::optional<double> classifier_dropout = {};  // hidden_dropout_prob where absent
  int64_t max_position_embeddings = 512;          // the first token has position pad_token_id + 1
  int64_t type_vocab_size = 2;
  double initializer_range = 0.02;
  double layer_norm_eps = 1e-12;
  int64_t pad_token_id = 1;
  int64_t num_labels = 2;
  RobertaHead head = RobertaHead::kClassification;
  // The masked LM returns {activation, weight and bias of the last product}, and
  // nn::MaskedTokenLoss computes that product only at masked positions.
  bool head_in_loss = false;
  DType dtype = DType::kF32;
};

// The published roberta-base. It differs from the defaults in 514 positions, one token type and eps
// 1e-5.
RobertaOptions RobertaBase();

// Inputs, in this order, the last two optional: token ids (N, T); an attention mask (N, T), 1 for
// tokens and 0 for padding; token types (N, T), 0 where absent. The mask passes from layer to layer
// with the activation, as a bool (N, 1, 1, T). Output: logits (N, num_labels), or (N, T,
// vocab_size) of the masked LM, whose last matrix is the word embedding.
//
// Its layers are the embeddings, each encoder layer ("roberta.encoder.layer.0", ...), and the head.
// Throws BadInput for options out of range, and for more tokens than positions.
std::shared_ptr<nn::Sequential> Roberta(const RobertaOptions& options = {});

}  // namespace torus
