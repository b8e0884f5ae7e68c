#include "models/nn/kv_cache.h"

#include <algorithm>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::nn {
namespace {

constexpr int64_t kLeastRoom = 64;  // tokens

}  // namespace

void KvCache::Grow(int64_t tokens, const Tensor& like) {
  const int64_t room = keys_.defined() ? keys_.dim(1) : 0;
  if (tokens <= room) return;
  const Shape shape{batch_, std::min(positions_, std::max({tokens, 2 * room, kLeastRoom})), width_};
  for (Tensor* held : {&keys_, &values_}) {
    const Tensor grown(shape, like.dtype(), like.device());
    if (length_ > 0) {
      Tensor to = grown.Narrow(1, 0, length_);
      Copy(held->Narrow(1, 0, length_), to);
    }
    *held = grown;
  }
}

void KvCache::Append(const Tensor& keys, const Tensor& values) {
  const Shape shape = {batch_, keys.dim(1), width_};
  Require(keys.shape() == shape && values.shape() == shape && length_ + shape[1] <= positions_,
          "kv_cache", "a cache of {} with {} tokens has no room for keys {} and values {}",
          Shape{batch_, positions_, width_}, length_, keys.shape(), values.shape());
  Grow(length_ + shape[1], keys);
  Tensor to_keys = keys_.Narrow(1, length_, shape[1]);
  Tensor to_values = values_.Narrow(1, length_, shape[1]);
  Copy(keys, to_keys);
  Copy(values, to_values);
  length_ += shape[1];
}

}  // namespace torus::nn
