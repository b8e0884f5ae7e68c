#include "models/llama/llama.h"

#include "models/llama/block.h"
#include "models/llama/embeddings.h"
#include "models/nn/lm_head.h"
#include "models/nn/rms_norm.h"
#include "runtime/error.h"

namespace torus {
namespace {

void Check(const LlamaOptions& o) {
  const int64_t heads = o.num_attention_heads, key_heads = o.key_value_heads();
  Require(heads >= 1 && o.hidden_size >= 1 && (o.head_dim || o.hidden_size % heads == 0), "llama",
          "num_attention_heads must divide hidden_size, got {} and {}", heads, o.hidden_size);
  Require(key_heads >= 1 && heads % key_heads == 0, "llama",
          "num_key_value_heads must divide num_attention_heads, got {} and {}", key_heads, heads);
  Require(o.width_of_head() >= 2 && o.width_of_head() % 2 == 0, "llama",
          "a head's width must be even, got {}", o.width_of_head());
  constexpr int64_t kMostWidth = int64_t{1} << 28;
  Require(o.width_of_head() <= kMostWidth / heads, "llama",
          "all heads together must be at most {} wide, got {} of {}", kMostWidth, heads,
          o.width_of_head());
  Require(o.num_hidden_layers >= 0, "llama", "num_hidden_layers must be at least 0, got {}",
          o.num_hidden_layers);
}

}  // namespace

LlamaOptions Llama2() { return {.max_position_embeddings = 4096, .rms_norm_eps = 1e-5}; }

LlamaOptions Llama31() {
  return {.vocab_size = 128256,
          .intermediate_size = 14336,
          .num_key_value_heads = 8,
          .max_position_embeddings = 131072,
          .rms_norm_eps = 1e-5,
          .rope = {.theta = 500000, .factor = 8, .original_positions = 8192}};
}

int64_t LlamaIntermediateSize(int64_t hidden_size) {
  constexpr int64_t kMultiple = 256;
  return (8 * hidden_size / 3 + kMultiple - 1) / kMultiple * kMultiple;
}

std::shared_ptr<nn::Sequential> Llama(const LlamaOptions& o) {
  Check(o);
  auto model = std::make_shared<nn::Sequential>();
  const auto embeddings = std::make_shared<LlamaEmbeddings>(o);
  model->Add("model", embeddings, "model.embed_tokens");
  for (int64_t i = 0; i < o.num_hidden_layers; ++i)
    model->Add(fmt::format("model.layers.{}", i),
               std::make_shared<LlamaBlock>(o, static_cast<uint64_t>(i)));
  model->Add("model.norm", std::make_shared<nn::RmsNorm>(nn::RmsNormOptions{
                               .width = o.hidden_size, .eps = o.rms_norm_eps, .dtype = o.dtype}));
  model->Add("lm_head",
             o.tie_word_embeddings
                 ? std::make_shared<nn::LmHead>(embeddings->tokens(), "model.embed_tokens.weight",
                                                o.head_in_loss)
                 : std::make_shared<nn::LmHead>(o.vocab_size, o.hidden_size, o.initializer_range,
                                                o.head_in_loss, o.dtype));
  return model;
}

}  // namespace torus
