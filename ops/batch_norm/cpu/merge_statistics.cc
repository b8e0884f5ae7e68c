#include "ops/batch_norm/channel_functors.h"
#include "ops/batch_norm/kernels.h"

namespace torus::cpu {

void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count) {
  const double *bm = more_mean.data<double>(), *bv = more_var.data<double>();
  double *am = mean.mutable_data<double>(), *av = var.mutable_data<double>();
  for (int64_t c = 0; c < mean.numel(); ++c)
    ops::MergeVariance(bm[c], bv[c], static_cast<double>(more), static_cast<double>(count), am[c],
                       av[c]);
}

}  // namespace torus::cpu
