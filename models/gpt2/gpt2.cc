#include "models/gpt2/gpt2.h"

#include "models/gpt2/block.h"
#include "models/gpt2/embeddings.h"
#include "models/nn/lm_head.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {

Gpt2Options Gpt2Medium() { return {.n_embd = 1024, .n_layer = 24, .n_head = 16}; }
Gpt2Options Gpt2Large() { return {.n_embd = 1280, .n_layer = 36, .n_head = 20}; }
Gpt2Options Gpt2Xl() { return {.n_embd = 1600, .n_layer = 48, .n_head = 25}; }

Gpt2Options CharacterGpt(int64_t vocab_size) {
  return {.vocab_size = vocab_size,
          .n_positions = 64,
          .n_embd = 128,
          .n_layer = 4,
          .n_head = 4,
          .activation_function = "gelu",
          .resid_pdrop = 0,
          .embd_pdrop = 0,
          .attn_pdrop = 0,
          .bias = false};
}

std::shared_ptr<nn::Sequential> Gpt2(const Gpt2Options& o) {
  Require(o.n_head >= 1 && o.n_embd >= 1 && o.n_embd % o.n_head == 0, "gpt2",
          "n_head must divide n_embd, got {} and {}", o.n_head, o.n_embd);
  Require(o.n_layer >= 0, "gpt2", "n_layer must be at least 0, got {}", o.n_layer);
  auto model = std::make_shared<nn::Sequential>();
  uint64_t dropout = 0;
  auto embeddings = std::make_shared<Gpt2Embeddings>(o, dropout++);
  model->Add("transformer", embeddings, "transformer.wte");
  for (int64_t i = 0; i < o.n_layer; ++i, dropout += Gpt2Block::kDropoutLayers)
    model->Add(fmt::format("transformer.h.{}", i), std::make_shared<Gpt2Block>(o, i, dropout));
  model->Add(
      "transformer.ln_f",
      std::make_shared<nn::LayerNorm>(nn::LayerNormOptions{
          .width = o.n_embd, .eps = o.layer_norm_epsilon, .bias = o.bias, .dtype = o.dtype}));
  model->Add("lm_head",
             o.tie_word_embeddings
                 ? std::make_shared<nn::LmHead>(embeddings->tokens(), "transformer.wte.weight",
                                                o.head_in_loss)
                 : std::make_shared<nn::LmHead>(o.vocab_size, o.n_embd, o.initializer_range,
                                                o.head_in_loss, o.dtype));
  return model;
}

Tensor NextTokens(const Tensor& labels) {
  Require(labels.rank() == 2, "gpt2", "needs labels (N, T), got {}", labels);
  const int64_t width = labels.dim(1);
  Tensor next = Full(labels.shape(), -100, DType::kI64, labels.device());
  if (width == 0) return next;
  Tensor all_but_last = next.Narrow(1, 0, width - 1);
  Copy(labels.To(DType::kI64).Narrow(1, 1, width - 1), all_but_last);
  return next;
}

}  // namespace torus
