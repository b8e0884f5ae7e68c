// Embedding and loss for a vocabulary that is split over tensor-parallel ranks: each rank has the
// rows and logits of its own part (Shoeybi et al. 2019, arXiv:1909.08053, section 3).
#pragma once

#include <cstdint>
#include <optional>

#include "autograd/variable.h"
#include "runtime/tensor_ranks.h"

namespace torus::ops {

// A part of the classes 0 .. all - 1 that starts with class `first`.
struct ClassPart {
  int64_t first = 0, all = 0;
};

// Looks up ids, of any shape S, in a table of `part.all` rows; `weight` (rows of the part, width)
// has this rank's rows. Returns (S..., width), the same on all ranks. Takes one sum over the ranks.
// Row `padding_idx` of the whole table gets no gradient. Throws BadInput tagged embedding for an id
// outside of the whole table.
Variable EmbeddingOfPart(const Variable& ids, const Variable& weight, const ClassPart& part,
                         std::optional<int64_t> padding_idx, const TensorRanks& ranks);

// Mean cross entropy of this rank's logits (N, classes of the part), f32 or f64, and class numbers
// (N) in 0 .. part.all - 1, or -100 for rows that are ignored. Returns a scalar, the same on all
// ranks; the gradient is that of this rank's logits. The ranks exchange four numbers per row (the
// largest logit, the logarithm of the sum of exponentials, the target's logit and whether the rank
// has it), never the logits. Throws BadInput tagged cross_entropy as CrossEntropy does.
Variable CrossEntropyOfPart(const Variable& logits, const Variable& target, const ClassPart& part,
                            const TensorRanks& ranks);

}  // namespace torus::ops
