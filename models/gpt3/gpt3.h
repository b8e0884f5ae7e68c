// GPT-3 XL as measured in decentralized training (Yuan et al. 2022, "Decentralized training of
// foundation models in heterogeneous environments", section 4; Wang et al. 2022, "Fine-tuning
// language models over slow networks"): the size of Brown et al. 2020, table 2.1, but with layer
// norm after each residual sum and a ReLU MLP. Names and initialization are those of their code
// (DT-FM, gpt_modules.py).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "models/nn/sequential.h"

namespace torus {

// What stands behind the blocks: a classifier of the first position, or a language model.
enum class Gpt3Head { kClassification, kLm };

// Defaults are GPT-3 XL's, with a classifier of two classes. Members without a comment are as their
// names say; dtype is that of the parameters.
struct Gpt3Options {
  int64_t vocab_size = 50257;
  int64_t positions = 2048;  // longest sequence
  int64_t width = 2048;
  int64_t layers = 24;
  int64_t heads = 16;
  int64_t num_classes = 2;
  Gpt3Head head = Gpt3Head::kClassification;
  // Whether a token attends only to itself and earlier tokens. By default true for the LM and false
  // for the classifier, which reads the first position and needs it to attend to all tokens.
  std::optional<bool> causal = {};
  // The LM returns {activation, weight of the head}, and nn::NextTokenLoss multiplies them, so that
  // training never holds all logits at once.
  bool head_in_loss = false;
  DType dtype = DType::kF32;
};

// Maps token ids (N, T), and optionally an attention mask (N, T), 1 for tokens and 0 for padding
// (the reference has none), to logits (N, num_classes) from the first position, or (N, T,
// vocab_size).
//
// Its layers are the embedding, "transformers.0" ..., and "classifier". Each sublayer begins with a
// layer norm, and its residual is the output of that norm, not the input. This equals a layer norm
// after each sum, with one more after the embedding and none after the last sum. Throws BadInput
// for options out of range, and for more tokens than positions.
std::shared_ptr<nn::Sequential> Gpt3(const Gpt3Options& options = {});

}  // namespace torus
