#include "autograd/low_copy.h"

#include "autograd/variable_state.h"
#include "runtime/error.h"

namespace torus {

Tensor LowCopyOf(const Variable& leaf, DType dtype) {
  TORUS_CHECK(leaf.is_leaf(), "{} is no leaf", leaf.data());
  internal::LowCopy& kept = internal::LowCopyPlace(leaf);
  const uint64_t version = leaf.data().version();
  if (!kept.values.defined() || kept.version != version || kept.values.dtype() != dtype)
    kept = {leaf.data().To(dtype), version};
  return kept.values;
}

void ForgetLowCopy(const Variable& leaf) { internal::LowCopyPlace(leaf) = {}; }

}  // namespace torus
