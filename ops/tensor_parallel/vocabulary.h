// Embedding and loss of a vocabulary that is split over tensor-parallel ranks, of which each has
// the rows and the logits of its own part (Shoeybi et al. 2019, arXiv:1909.08053, section 3).
#pragma once

#include <cstdint>
#include <optional>

#include "autograd/variable.h"
#include "runtime/tensor_ranks.h"

namespace torus::ops {

// The part of the classes 0 .. all - 1 that begins with class `first`.
struct ClassPart {
  int64_t first = 0, all = 0;
};

// Embedding of ids, of any shape S, in a table of `part.all` rows of which `weight` (rows of the
// part, width) has this rank's: (S..., width), the same on all ranks. One sum over the ranks. Row
// `padding_idx` of the table, from 0, gets no gradient. BadInput tagged embedding for an id outside
// of the whole table.
Variable EmbeddingOfPart(const Variable& ids, const Variable& weight, const ClassPart& part,
                         std::optional<int64_t> padding_idx, const TensorRanks& ranks);

// Mean cross entropy of logits (N, classes of the part), f32 or f64, of which each rank has those
// of its own part, and class numbers (N) in 0 .. part.all - 1, or -100 for rows that do not count:
// a scalar, the same on all ranks. The gradient is that of this rank's logits. The ranks gather
// four numbers a row (the largest logit, the logarithm of the sum of exponentials, the target's
// logit and who has it), never the logits. BadInput tagged cross_entropy as CrossEntropy.
Variable CrossEntropyOfPart(const Variable& logits, const Variable& target, const ClassPart& part,
                            const TensorRanks& ranks);

}  // namespace torus::ops
