// Gpt2Decoder: runs GPT-2 on a text token by token, keeping the keys and values of earlier tokens.
#pragma once

#include <memory>
#include <vector>

#include "models/gpt2/gpt2.h"
#include "models/gpt2/kv_cache.h"

namespace torus {

class Gpt2Decoder {
 public:
  // For `batch` texts of equal length. Throws BadInput unless `model` was made by Gpt2(options). A
  // change of its weights takes effect at the next call.
  Gpt2Decoder(std::shared_ptr<nn::Sequential> model, const Gpt2Options& options, int64_t batch = 1);

  // Reads the next tokens, ids (N, T) with T at least 1, and returns the logits (N, vocab_size) of
  // the token after them. Up to rounding, they are those of the whole model in evaluation mode.
  // Throws BadInput beyond n_positions tokens.
  Tensor Extend(const Tensor& ids);

  int64_t length() const { return length_; }  // tokens so far
  void Reset();                               // begins new texts

 private:
  std::shared_ptr<nn::Sequential> model_;
  Gpt2Options options_;
  int64_t batch_, length_ = 0;
  std::vector<KvCache> caches_;  // of each block
};

}  // namespace torus
