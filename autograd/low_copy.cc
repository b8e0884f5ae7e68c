#include "autograd/low_copy.h"

#include "autograd/variable_state.h"
#include "runtime/error.h"

namespace torus {
namespace {

bool IsCurrent(const internal::LowCopy& kept, const Variable& leaf, DType dtype) {
  return kept.values.defined() && kept.version == leaf.data().version() &&
         kept.values.dtype() == dtype;
}

}  // namespace

Tensor LowCopyOf(const Variable& leaf, DType dtype) {
  TORUS_CHECK(leaf.is_leaf(), "{} is no leaf", leaf.data());
  internal::LowCopy& kept = internal::LowCopyPlace(leaf);
  if (!IsCurrent(kept, leaf, dtype)) kept = {leaf.data().To(dtype), leaf.data().version(), dtype};
  return kept.values;
}

void ForgetLowCopy(const Variable& leaf) { internal::LowCopyPlace(leaf).values = {}; }

void RenewLowCopies(std::span<const Variable> leaves, DType dtype, const FillCopies& fill) {
  std::vector<const Variable*> renewed;
  std::vector<Tensor> values, copies;
  for (const Variable& leaf : leaves) {
    internal::LowCopy& kept = internal::LowCopyPlace(leaf);
    const Tensor& data = leaf.data();
    if (kept.dtype != dtype || IsCurrent(kept, leaf, dtype)) continue;
    if (data.dtype() != DType::kF32 || !data.is_contiguous()) continue;
    kept.values = {};  // whose memory may serve for the new one
    renewed.push_back(&leaf);
    values.push_back(data);
    copies.emplace_back(data.shape(), dtype, data.device());
  }
  if (renewed.empty()) return;
  fill(values, copies);
  for (size_t i = 0; i < renewed.size(); ++i)
    internal::LowCopyPlace(*renewed[i]) = {copies[i], values[i].version(), dtype};
}

}  // namespace torus
