// The plain f64 kernels; those of f32 are in layer_norm_vector.cc.
#include "ops/layer_norm/cpu/layer_norm_rows.h"

#include <cmath>
#include <vector>

namespace torus::cpu {

void NormalizeRows(int64_t rows, int64_t n, const double* x, const double* weight,
                   const double* bias, double eps, double* y, double* mean, double* rstd) {
  for (int64_t r = 0; r < rows; ++r) {
    const double* in = x + r * n;
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < n; ++c) sum += in[c];
    const double m = sum / static_cast<double>(n);
    for (int64_t c = 0; c < n; ++c) squares += (in[c] - m) * (in[c] - m);
    mean[r] = m;
    rstd[r] = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (int64_t c = 0; c < n; ++c) y[r * n + c] = (in[c] - m) * rstd[r] * weight[c] + bias[c];
  }
}

void NormalizeRowsBackward(int64_t rows, int64_t n, const double* dy, const double* x,
                           const double* mean, const double* rstd, const double* weight, double* dx,
                           double* dweight, double* dbias) {
  // Each quantity in a loop of its own: which gradients are wanted must not change how the compiler
  // fuses the roundings of the others.
  std::vector<double> normal(n), g(n);
  for (int64_t r = 0; r < rows; ++r, dy += n, x += n) {
    for (int64_t c = 0; c < n; ++c) normal[c] = (x[c] - mean[r]) * rstd[r];
    for (int64_t c = 0; dweight != nullptr && c < n; ++c) {
      dweight[c] += dy[c] * normal[c];
      dbias[c] += dy[c];
    }
    if (dx == nullptr) continue;
    double sum = 0, product = 0;
    for (int64_t c = 0; c < n; ++c) {
      g[c] = dy[c] * weight[c];
      sum += g[c];
      product += g[c] * normal[c];
    }
    const double offset = sum / static_cast<double>(n), slope = product / static_cast<double>(n);
    for (int64_t c = 0; c < n; ++c) dx[c] = rstd[r] * (g[c] - offset - normal[c] * slope);
    dx += n;
  }
}

}  // namespace torus::cpu
