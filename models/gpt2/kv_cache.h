// KvCache: the keys and values of an attention layer for the tokens so far, so that the next token
// adds one row instead of recomputing all.
#pragma once

#include "runtime/tensor.h"

namespace torus {

class KvCache {
 public:
  // For `batch` texts of at most `positions` tokens each.
  KvCache(int64_t batch, int64_t positions, int64_t width) : shape_{batch, positions, width} {}

  // Appends keys and values (N, T, width) of the next T tokens. The first call sets dtype and
  // device. Throws BadInput if they do not fit.
  void Append(const Tensor& keys, const Tensor& values);
  int64_t length() const { return length_; }  // tokens held of each text

  // Views (N, length, width); call Append first.
  Tensor keys() const { return keys_.Narrow(1, 0, length_); }
  Tensor values() const { return values_.Narrow(1, 0, length_); }

 private:
  Shape shape_;           // (N, positions, width)
  Tensor keys_, values_;  // undefined while empty
  int64_t length_ = 0;
};

}  // namespace torus
