// Gpt2Decoder: GPT-2 a few tokens at a time, with the keys and values of what came before kept.
#pragma once

#include <memory>
#include <vector>

#include "models/gpt2/gpt2.h"
#include "models/gpt2/kv_cache.h"

namespace torus {

class Gpt2Decoder {
 public:
  // `model`: as Gpt2() makes it, whose weights it reads as they are at each call. For `batch` texts
  // of equal length. BadInput for another model.
  Gpt2Decoder(std::shared_ptr<nn::Sequential> model, const Gpt2Options& options, int64_t batch = 1);

  // ids (N, T) of the next tokens, T at least 1, to the logits (N, vocab_size) of the one behind
  // the
  // last: those of the whole model in evaluation mode, but for rounding. BadInput past n_positions.
  Tensor Extend(const Tensor& ids);

  int64_t length() const { return length_; }  // tokens so far
  void Reset();                               // to none

 private:
  std::shared_ptr<nn::Sequential> model_;
  Gpt2Options options_;
  int64_t batch_, length_ = 0;
  std::vector<KvCache> caches_;  // of each block
};

}  // namespace torus
