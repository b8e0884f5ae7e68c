// TextDecoder: runs a language model on a text token by token, keeping the keys and values of
// earlier tokens.
#pragma once

#include <memory>
#include <vector>

#include "models/nn/kv_cache.h"
#include "models/nn/sequential.h"

namespace torus::nn {

// A first layer that must know where in the text its tokens are.
class PositionedLayer {
 public:
  virtual ~PositionedLayer() = default;
  // Embeds ids (N, T) at the positions first, first + 1, ..., in evaluation mode.
  virtual Variable Extend(const Variable& ids, int64_t first) = 0;
};

class TextDecoder {
 public:
  // For `batch` texts of equal length, of at most `positions` tokens. Throws BadInput unless the
  // layers of `model` are one that embeds tokens, at least one CachedLayer, and others that treat
  // each token alone. A change of its weights takes effect at the next call.
  TextDecoder(std::shared_ptr<Sequential> model, int64_t positions, int64_t batch = 1);

  // Reads the next tokens, ids (N, T) with T at least 1, and returns the logits (N, vocabulary) of
  // the token after them. Up to rounding, they are those of the whole model in evaluation mode.
  // Throws BadInput beyond the last position.
  Tensor Extend(const Tensor& ids);

  int64_t length() const { return length_; }  // tokens so far
  void Reset();                               // begins new texts

 private:
  std::shared_ptr<Sequential> model_;
  int64_t positions_, batch_, length_ = 0;
  std::vector<CachedLayer*> cached_;  // of the model, from its second layer on
  std::vector<KvCache> caches_;       // of each of them
};

}  // namespace torus::nn
