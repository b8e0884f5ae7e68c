#include "ops/batch_norm/cpu/merge_statistics.h"

namespace torus::cpu {

void MergeStatistics(const Tensor& more_mean, const Tensor& more_var, int64_t more, Tensor& mean,
                     Tensor& var, int64_t count) {
  const double na = static_cast<double>(count), nb = static_cast<double>(more), n = na + nb;
  const double *bm = more_mean.data<double>(), *bv = more_var.data<double>();
  double *am = mean.mutable_data<double>(), *av = var.mutable_data<double>();
  for (int64_t c = 0; c < mean.numel(); ++c) {
    const double delta = bm[c] - am[c];
    const double squares = av[c] * na + bv[c] * nb;
    am[c] += delta * (nb / n);
    av[c] = (squares + delta * delta * (na * nb / n)) / n;
  }
}

}  // namespace torus::cpu
