#include "autograd/low_copy.h"

#include <set>

#include "autograd/variable_state.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

bool IsCurrent(const internal::LowCopy& kept, const Variable& leaf, DType dtype) {
  return kept.values.defined() && kept.version == leaf.data().version() &&
         kept.values.dtype() == dtype;
}

// Whether the leaf's values go into the memory that the copy has. The leaf may have got others
// since, of another layout or elsewhere.
bool FitsInPlace(const internal::LowCopy& kept, const Variable& leaf, DType dtype) {
  const Tensor &data = leaf.data(), &copy = kept.values;
  return copy.defined() && copy.dtype() == dtype && copy.is_contiguous() &&
         data.dtype() == DType::kF32 && data.is_contiguous() && data.device() == copy.device();
}

// The tensor of which the copies are the parts along dimension 0, if all are current and they are.
Tensor JoinedIfCurrent(std::span<const Variable> leaves, const Shape& shape, DType dtype) {
  const Tensor& first = internal::LowCopyPlace(leaves[0]).values;
  int64_t at = 0;
  for (const Variable& leaf : leaves) {
    const internal::LowCopy& kept = internal::LowCopyPlace(leaf);
    if (!IsCurrent(kept, leaf, dtype) || !kept.values.is_contiguous() ||
        kept.values.storage() != first.storage() || kept.values.offset() != first.offset() + at)
      return {};
    at += leaf.numel();
  }
  return Tensor(first.storage(), shape, ContiguousStrides(shape), first.offset(), dtype);
}

}  // namespace

Tensor LowCopyOf(const Variable& leaf, DType dtype) {
  TORUS_CHECK(leaf.is_leaf(), "{} is no leaf", leaf.data());
  internal::LowCopy& kept = internal::LowCopyPlace(leaf);
  if (IsCurrent(kept, leaf, dtype)) return kept.values;
  if (FitsInPlace(kept, leaf, dtype))
    Copy(leaf.data(), kept.values);
  else
    kept.values = leaf.data().To(dtype);
  kept.version = leaf.data().version();
  kept.dtype = dtype;
  return kept.values;
}

Tensor JoinedLowCopyOf(std::span<const Variable> leaves, DType dtype) {
  Shape shape = leaves[0].shape();
  shape[0] = 0;
  for (const Variable& leaf : leaves) {
    TORUS_CHECK(leaf.is_leaf(), "{} is no leaf", leaf.data());
    shape[0] += leaf.dim(0);
  }
  if (const Tensor joined = JoinedIfCurrent(leaves, shape, dtype); joined.defined()) return joined;
  Tensor joined(shape, dtype, leaves[0].data().device());
  int64_t at = 0;
  for (const Variable& leaf : leaves) {
    Tensor part = joined.Narrow(0, at, leaf.dim(0));
    Copy(leaf.data(), part);
    internal::LowCopyPlace(leaf) = {part, leaf.data().version(), dtype};
    at += leaf.dim(0);
  }
  return joined;
}

void ShareLowCopy(const Variable& leaf, Variable& alias) {
  TORUS_CHECK(leaf.data().storage() == alias.data().storage() && leaf.shape() == alias.shape(),
              "{} and {} are not one weight", leaf.data(), alias.data());
  internal::LowCopyPlace(leaf);
  alias.state_->low = leaf.state_->low;
}

void ForgetLowCopy(const Variable& leaf) { internal::LowCopyPlace(leaf).values = {}; }

Tensor KeptLowCopy(const Variable& leaf) {
  const internal::LowCopy& kept = internal::LowCopyPlace(leaf);
  return FitsInPlace(kept, leaf, kept.dtype) ? kept.values : Tensor();
}

bool LowCopyIsCurrent(const Variable& leaf) {
  const internal::LowCopy& kept = internal::LowCopyPlace(leaf);
  return IsCurrent(kept, leaf, kept.dtype);
}

void LowCopyIsWritten(const Variable& leaf) {
  if (KeptLowCopy(leaf).defined()) internal::LowCopyPlace(leaf).version = leaf.data().version();
}

void RenewLowCopies(std::span<const Variable> leaves, DType dtype, const FillCopies& fill) {
  std::vector<const Variable*> renewed;
  std::vector<Tensor> values, copies;
  std::set<const internal::LowCopy*> seen;  // leaves may share one
  for (const Variable& leaf : leaves) {
    internal::LowCopy& kept = internal::LowCopyPlace(leaf);
    const Tensor& data = leaf.data();
    if (kept.dtype != dtype || IsCurrent(kept, leaf, dtype)) continue;
    if (!seen.insert(&kept).second) continue;
    if (data.dtype() != DType::kF32 || !data.is_contiguous()) continue;
    renewed.push_back(&leaf);
    values.push_back(data);
    if (FitsInPlace(kept, leaf, dtype)) {
      copies.push_back(kept.values);
      continue;
    }
    kept.values = {};  // whose memory may serve for the new one
    copies.emplace_back(data.shape(), dtype, data.device());
  }
  if (renewed.empty()) return;
  fill(values, copies);
  for (size_t i = 0; i < renewed.size(); ++i)
    internal::LowCopyPlace(*renewed[i]) = {copies[i], values[i].version(), dtype};
}

}  // namespace torus
