// What the replicas of a batch norm tell each other, so that they normalise as one. The room's own
// part.
#pragma once

#include <cstdint>

#include "runtime/gather_replicas.h"

namespace torus::ops {

// Mean and biased variance of each channel over `count` values: (C) f64.
struct BatchMoments {
  Tensor mean, var;
  int64_t count = 0;
};

// Those of all replicas' rows together, merged in replica order: the same bits on all of them.
// (2 C + 1) f64 travel, means, variances and count. Replicas may have any counts, 0 too.
BatchMoments OverReplicas(const BatchMoments& own, const GatherReplicas& gather);

// The sum over all replicas, added in their order.
Tensor SumOverReplicas(const Tensor& own, const GatherReplicas& gather);

}  // namespace torus::ops
