#include <algorithm>
#include <vector>

#include "ops/cpu/elements.h"
#include "ops/layer_norm/cpu/layer_norm_rows.h"
#include "ops/layer_norm/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kPartRows = 64;   // rows whose parameter gradients are summed in T
constexpr int64_t kWork = 1 << 14;  // elements that are worth waking a thread for

int64_t Grain(int64_t row_cost) { return kWork / (row_cost + 1) + 1; }

// Adds the parts of a column in order.
template <class T>
void AddParts(int64_t parts, int64_t n, const T* partial, T* out) {
  if (out == nullptr) return;
  ParallelFor(n, Grain(parts), [=](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      double total = 0;
      for (int64_t p = 0; p < parts; ++p) total += partial[2 * p * n + c];
      out[c] = static_cast<T>(total);
    }
  });
}

template <class T>
void Normalize(int64_t rows, int64_t n, const T* x, const T* weight, const T* bias, double eps,
               T* y, T* mean, T* rstd) {
  ParallelFor(rows, Grain(n), [=](int64_t begin, int64_t end) {
    NormalizeRows(end - begin, n, x + begin * n, weight, bias, eps, y + begin * n,
                  mean == nullptr ? nullptr : mean + begin, rstd + begin);
  });
}

template <class T>
void NormalizeBackward(int64_t rows, int64_t n, const T* dy, const T* x, const T* mean,
                       const T* rstd, const T* weight, T* dx, T* dweight, T* dbias) {
  const bool sums = dweight != nullptr || dbias != nullptr;
  const int64_t parts = (rows + kPartRows - 1) / kPartRows;
  std::vector<T> partial(sums ? 2 * std::max<int64_t>(1, parts) * n : 0);  // dweight, dbias
  T* sum = partial.data();
  ParallelFor(parts, Grain(kPartRows * n), [=](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const int64_t first = p * kPartRows, at = first * n;
      T *to = dx == nullptr ? nullptr : dx + at, *w = sums ? sum + 2 * p * n : nullptr;
      NormalizeRowsBackward(std::min(kPartRows, rows - first), n, dy + at, x + at,
                            mean == nullptr ? nullptr : mean + first, rstd + first, weight, to, w,
                            sums ? w + n : nullptr);
    }
  });
  AddParts(parts, n, sum, dweight);
  AddParts(parts, n, sum + (sums ? n : 0), dbias);
}

}  // namespace

void LayerNorm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps, Tensor& y,
               Tensor& mean, Tensor& rstd) {
  VisitCompute("layer_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    Normalize(rstd.numel(), weight.numel(), x.data<T>(), weight.data<T>(), bias.data<T>(), eps,
              y.mutable_data<T>(), MutableElementsOrNull<T>(mean), rstd.mutable_data<T>());
  });
}

void LayerNormBackward(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                       const Tensor& weight, const Tensor& added, Tensor& dx, Tensor& dweight,
                       Tensor& dbias) {
  TORUS_CHECK(!added.defined(), "a CPU adds {} apart", added);
  VisitCompute("layer_norm", x.dtype(), [&]<class T>(ComputeType<T>) {
    NormalizeBackward(rstd.numel(), weight.numel(), dy.data<T>(), x.data<T>(),
                      ElementsOrNull<T>(mean), rstd.data<T>(), weight.data<T>(),
                      MutableElementsOrNull<T>(dx), MutableElementsOrNull<T>(dweight),
                      MutableElementsOrNull<T>(dbias));
  });
}

}  // namespace torus::cpu
