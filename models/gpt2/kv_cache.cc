#include "models/gpt2/kv_cache.h"

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {

KvCache::KvCache(int64_t batch, int64_t positions, int64_t width, DType dtype)
    : keys_({batch, positions, width}, dtype), values_({batch, positions, width}, dtype) {}

void KvCache::Append(const Tensor& keys, const Tensor& values) {
  const Shape shape = {keys_.dim(0), keys.dim(1), keys_.dim(2)};
  Require(keys.shape() == shape && values.shape() == shape && length_ + shape[1] <= keys_.dim(1),
          "gpt2", "a cache of {} with {} tokens has no room for keys {} and values {}",
          ToString(keys_.shape()), length_, ToString(keys.shape()), ToString(values.shape()));
  Tensor to_keys = keys_.Narrow(1, length_, shape[1]);
  Tensor to_values = values_.Narrow(1, length_, shape[1]);
  Copy(keys, to_keys);
  Copy(values, to_values);
  length_ += shape[1];
}

}  // namespace torus
