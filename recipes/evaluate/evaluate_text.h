// Evaluates how well a language model predicts a text.
#pragma once

#include <stop_token>

#include "data/text/masking.h"
#include "data/text/tokens.h"
#include "models/nn/sequential.h"

namespace torus::recipes {

// How well a language model predicts a text.
struct TextEvaluation {
  int64_t tokens = 0;  // that were predicted
  double loss = 0;     // mean negative log likelihood per token, in nats
};

// Evaluates disjoint windows of `length` tokens (data/text/windows.h), `batch` at a time, in
// evaluation mode. `model` returns logits, or leaves its head to nn::NextTokenLoss. Throws BadInput
// if no token is to be predicted, or if a loss is not finite. Throws Interrupted before the next
// rows once `stop` is requested.
TextEvaluation EvaluateText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                            int64_t batch, const std::stop_token& stop = {});

// The same for a masked language model: rows of `length` tokens, which `masker` masks in the same
// way every time. `model` returns what nn::MaskedTokenLoss takes. Throws BadInput if `length`
// leaves no room for any text.
TextEvaluation EvaluateMaskedText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                                  int64_t batch, const data::TokenMasker& masker,
                                  const std::stop_token& stop = {});

}  // namespace torus::recipes
