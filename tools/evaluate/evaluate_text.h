// How well a language model foretells a text.
#pragma once

#include "data/text/tokens.h"
#include "models/nn/sequential.h"

namespace torus::tools {

struct TextEvaluation {
  int64_t tokens = 0;  // that were foretold
  double loss = 0;     // mean negative log likelihood of one, in nats
};

// Disjoint windows of `length` tokens (data/text/windows.h), `batch` at a time, in evaluation mode.
// `model` puts out logits, or leaves its head to NextTokenLoss.
TextEvaluation EvaluateText(nn::Sequential& model, const data::Tokens& tokens, int64_t length,
                            int64_t batch);

}  // namespace torus::tools
