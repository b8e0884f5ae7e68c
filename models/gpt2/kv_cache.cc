#include "models/gpt2/kv_cache.h"

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {

void KvCache::Append(const Tensor& keys, const Tensor& values) {
  const Shape shape = {shape_[0], keys.dim(1), shape_[2]};
  Require(keys.shape() == shape && values.shape() == shape && length_ + shape[1] <= shape_[1],
          "gpt2", "a cache of {} with {} tokens has no room for keys {} and values {}", shape_,
          length_, keys.shape(), values.shape());
  if (!keys_.defined()) {
    keys_ = Tensor(shape_, keys.dtype(), keys.device());
    values_ = Tensor(shape_, values.dtype(), values.device());
  }
  Tensor to_keys = keys_.Narrow(1, length_, shape[1]);
  Tensor to_values = values_.Narrow(1, length_, shape[1]);
  Copy(keys, to_keys);
  Copy(values, to_values);
  length_ += shape[1];
}

}  // namespace torus
