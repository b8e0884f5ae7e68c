// Merging of batch norm statistics on a CPU; ops/batch_norm/kernels.h has the contract.
#pragma once

#include "runtime/tensor.h"

namespace torus::cpu {

void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count);

}  // namespace torus::cpu
