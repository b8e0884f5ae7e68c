// Small text models in their forms, and four rows of tokens for them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/gpt3/gpt3.h"
#include "tests/models/small_text_models.h"

namespace torus {

using Model = std::shared_ptr<nn::Sequential>;

inline StepContext Context(int64_t samples) {
  StepContext ctx{.seed = 5};
  for (int64_t i = 0; i < samples; ++i) ctx.samples.push_back(i);
  return ctx;
}

inline std::vector<Variable> Tokens(bool mask) {
  std::vector<int64_t> ids, seen;
  for (int64_t i = 0; i < 4 * 6; ++i) {
    const bool real = i % 6 < 6 - i / 6;  // row r ends in r tokens of padding
    ids.push_back(real ? 2 + i * 7 % 30 : 1);
    seen.push_back(real);
  }
  std::vector<Variable> inputs{Variable(FromVector(ids, {4, 6}))};
  if (mask) inputs.push_back(Variable(FromVector(seen, {4, 6})));
  return inputs;
}

inline RobertaOptions SmallRoberta(RobertaHead head) {
  RobertaOptions options = testing::SmallRoberta();
  options.head = head;
  return options;
}

inline Gpt2Options SmallGpt2(bool bias) {
  return {
      .vocab_size = 40, .n_positions = 8, .n_embd = 12, .n_layer = 2, .n_head = 3, .bias = bias};
}

inline Gpt3Options SmallGpt3(Gpt3Head head) {
  return {.vocab_size = 40, .positions = 8, .width = 12, .layers = 2, .heads = 3, .head = head};
}

inline LlamaOptions SmallLlama(bool tied) {
  LlamaOptions options = testing::SmallLlama();
  options.vocab_size = 40;
  options.tie_word_embeddings = tied;
  return options;
}

}  // namespace torus
