// How well a language model foretells a text.
#pragma once

#include "data/text/masking.h"
#include "data/text/tokens.h"
#include "models/nn/sequential.h"

namespace torus::recipes {

struct TextEvaluation {
  int64_t tokens = 0;  // that were foretold
  double loss = 0;     // mean negative log likelihood of one, in nats
};

// Disjoint windows of `length` tokens (data/text/windows.h), `batch` at a time, in evaluation mode.
// `model` puts out logits, or leaves its head to nn::NextTokenLoss.
TextEvaluation EvaluateText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                            int64_t batch);

// Of a model of masked words: the same rows of `length` tokens, masked by `masker`, always alike.
// `model` puts out what nn::MaskedTokenLoss takes. BadInput for a length without room for a text.
TextEvaluation EvaluateMaskedText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                                  int64_t batch, const data::TokenMasker& masker);

}  // namespace torus::recipes
