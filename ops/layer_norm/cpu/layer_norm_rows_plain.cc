// The plain f64 kernels; those of f32 are in layer_norm_vector.cc.
#include <Eigen/Core>
#include <cmath>

#include "ops/layer_norm/cpu/layer_norm_rows.h"

namespace torus::cpu {
namespace {

using Row = Eigen::ArrayXd;
using ConstView = Eigen::Map<const Row>;
using View = Eigen::Map<Row>;

double MeanOf(const double* mean, int64_t row) { return mean == nullptr ? 0 : mean[row]; }

}  // namespace

// Sums run over copies, because Eigen's order of the sum of a view depends on its address.
void NormalizeRows(int64_t rows, int64_t n, const double* x, const double* weight,
                   const double* bias, double eps, double* y, double* mean, double* rstd) {
  const ConstView w(weight, n), b(bias, n);
  for (int64_t r = 0; r < rows; ++r) {
    const Row in = ConstView(x + r * n, n);
    if (mean != nullptr) mean[r] = in.mean();
    const Row centered = in - MeanOf(mean, r);
    rstd[r] = 1 / std::sqrt(centered.square().mean() + eps);
    View(y + r * n, n) = centered * rstd[r] * w + b;
  }
}

void NormalizeRowsBackward(int64_t rows, int64_t n, const double* dy, const double* x,
                           const double* mean, const double* rstd, const double* weight, double* dx,
                           double* dweight, double* dbias) {
  const ConstView w(weight, n);
  for (int64_t r = 0; r < rows; ++r) {
    const ConstView up(dy + r * n, n);
    const Row normal = (ConstView(x + r * n, n) - MeanOf(mean, r)) * rstd[r];
    if (dweight != nullptr) {
      View(dweight, n) += up * normal;
      View(dbias, n) += up;
    }
    if (dx == nullptr) continue;
    const Row g = up * w;
    const double offset = mean == nullptr ? 0 : g.mean();
    View(dx + r * n, n) = rstd[r] * (g - offset - normal * (g * normal).mean());
  }
}

}  // namespace torus::cpu
