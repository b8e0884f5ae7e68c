// 16-bit copies of weights, made once per step instead of at each use.
//
// A leaf keeps its copy, which is renewed in the memory that it has: so a recorded graph may read
// it there, and an optimizer may write it with the weight. As with the weight itself, a backward
// that saved it must run before its values change.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// Returns the leaf's values cast to `dtype`, bf16 or f16. Not thread-safe: one thread at a time may
// use a leaf.
Tensor LowCopyOf(const Variable& leaf, DType dtype);

// The same of several leaves, joined along dimension 0: their copies then lie one after another in
// one memory. The leaves are of one dtype and, but for that dimension, of one shape.
Tensor JoinedLowCopyOf(std::span<const Variable> leaves, DType dtype);

// From now on both leaves have one copy, until one of them gets another tensor. They must have the
// same tensor, as uses of a tied weight do.
void ShareLowCopy(const Variable& leaf, Variable& alias);

// Drops the copy; the next use makes a new one.
void ForgetLowCopy(const Variable& leaf);

// The copy that the leaf keeps and that can be renewed where it is, whether its values are current
// or not; undefined if there is none.
Tensor KeptLowCopy(const Variable& leaf);

// Whether the leaf has a copy of its present values.
bool LowCopyIsCurrent(const Variable& leaf);

// Notes that the kept copy, if there is one, was written with the leaf's values.
void LowCopyIsWritten(const Variable& leaf);

// Fills each of `copies`, which is contiguous, with the values rounded to its dtype.
using FillCopies =
    std::function<void(const std::vector<Tensor>& values, std::vector<Tensor>& copies)>;

// Renews the copies, all at once by `fill`, of those leaves that were asked for one in `dtype` and
// have no more a current one. The other leaves, and those that are not contiguous f32, are left to
// their next use.
void RenewLowCopies(std::span<const Variable> leaves, DType dtype, const FillCopies& fill);

}  // namespace torus
