// Text models of a few thousand weights, and whether two states are the same.
#pragma once

#include <cstring>
#include <vector>

#include "models/gpt2/gpt2.h"
#include "models/llama/llama.h"
#include "models/roberta/roberta.h"

namespace torus::testing {

inline RobertaOptions SmallRoberta() {
  return {.vocab_size = 40,
          .hidden_size = 12,
          .num_hidden_layers = 2,
          .num_attention_heads = 3,
          .intermediate_size = 20,
          .max_position_embeddings = 18,
          .num_labels = 3};
}

inline Gpt2Options SmallGpt2() {
  return {.vocab_size = 30, .n_positions = 16, .n_embd = 8, .n_layer = 2, .n_head = 2};
}

inline LlamaOptions SmallLlama() {
  return {.vocab_size = 30,
          .hidden_size = 8,
          .intermediate_size = 12,
          .num_hidden_layers = 2,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .max_position_embeddings = 16};
}

inline bool SameBits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].name != b[i].name || a[i].value.shape() != b[i].value.shape() ||
        std::memcmp(a[i].value.raw(), b[i].value.raw(), a[i].value.bytes()) != 0)
      return false;
  return true;
}

}  // namespace torus::testing
