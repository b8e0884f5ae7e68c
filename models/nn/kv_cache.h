// KvCache: the keys and values of an attention layer for the tokens so far, so that the next token
// adds one row instead of recomputing all.
#pragma once

#include "autograd/variable.h"

namespace torus::nn {

class KvCache {
 public:
  // For `batch` texts of at most `positions` tokens each. Its memory grows with the texts.
  KvCache(int64_t batch, int64_t positions, int64_t width)
      : batch_(batch), positions_(positions), width_(width) {}

  // Appends keys and values (N, T, width) of the next T tokens. The first call sets dtype and
  // device. Throws BadInput if they do not fit.
  void Append(const Tensor& keys, const Tensor& values);
  int64_t length() const { return length_; }  // tokens held of each text

  // Views (N, length, width) of the keys and the `values`; call Append first.
  Tensor keys() const { return keys_.Narrow(1, 0, length_); }
  Tensor values() const { return values_.Narrow(1, 0, length_); }

 private:
  void Grow(int64_t tokens, const Tensor& like);

  int64_t batch_, positions_, width_;
  Tensor keys_, values_;  // (N, room, width), undefined while empty
  int64_t length_ = 0;
};

// A layer with attention that can run token by token.
class CachedLayer {
 public:
  virtual ~CachedLayer() = default;
  // Runs the next T tokens x (N, T, width) in evaluation mode. `cache` holds keys and values of the
  // earlier tokens, and those of x are appended. No gradient flows through it.
  virtual Variable Extend(const Variable& x, KvCache& cache) = 0;
  // The width of a token's keys, and of its values.
  virtual int64_t cache_width() const = 0;
};

}  // namespace torus::nn
