// Exchanges batch norm statistics between replicas. Internal to this op family.
#pragma once

#include <cstdint>

#include "runtime/gather_replicas.h"

namespace torus::ops {

// Mean and biased variance of each channel over `count` values: (C) f64.
struct BatchMoments {
  Tensor mean, var;
  int64_t count = 0;
};

// The moments over all replicas' rows, merged in replica order: the same bits on all replicas. Each
// replica sends 2 C + 1 f64 numbers: means, variances and count. Counts may differ and may be 0.
BatchMoments OverReplicas(const BatchMoments& own, const GatherReplicas& gather);

// The sum over all replicas, added in their order.
Tensor SumOverReplicas(const Tensor& own, const GatherReplicas& gather);

}  // namespace torus::ops
