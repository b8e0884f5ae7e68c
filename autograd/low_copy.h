// 16-bit copies of weights, made once per step instead of at each use.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// Returns the leaf's values cast to `dtype`, bf16 or f16. The leaf caches the copy until its values
// change. Not thread-safe: one thread at a time may use a leaf.
Tensor LowCopyOf(const Variable& leaf, DType dtype);

// Drops the cached copy; the next use makes a new one.
void ForgetLowCopy(const Variable& leaf);

// Fills each of `copies`, which is contiguous, with the values rounded to its dtype.
using FillCopies =
    std::function<void(const std::vector<Tensor>& values, std::vector<Tensor>& copies)>;

// Makes new copies, all at once by `fill`, for those leaves that were asked for one in `dtype` and
// have no more a current one. The other leaves, and those that are not contiguous f32, are left to
// their next use.
void RenewLowCopies(std::span<const Variable> leaves, DType dtype, const FillCopies& fill);

}  // namespace torus
