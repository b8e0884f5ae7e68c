#include <algorithm>

#include "ops/resampling/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// One output of `inner` elements.
template <class T>
void AddTaps(const ops::AxisTap* tap, int64_t count, int64_t inner, const T* in, T* out) {
  if (count == 0) std::fill(out, out + inner, T(0));
  for (int64_t t = 0; t < count; ++t) {
    const T weight = static_cast<T>(tap[t].weight);
    const T* const from = in + tap[t].at * inner;
    if (t == 0)
      for (int64_t k = 0; k < inner; ++k) out[k] = weight * from[k];
    else
      for (int64_t k = 0; k < inner; ++k) out[k] += weight * from[k];
  }
}

}  // namespace

void ApplyTaps(std::string_view op, const ops::AxisTaps& taps, const Tensor& x, Tensor& y) {
  const int64_t out = taps.out(), inner = x.dim(2);
  if (y.numel() == 0) return;
  const int64_t work = inner * (std::ssize(taps.taps) / out + 1) + 1;
  VisitCompute(op, y.dtype(), [&]<class T>(ComputeType<T>) {
    const T* const from = x.data<T>();
    T* const to = y.mutable_data<T>();
    ParallelFor(x.dim(0) * out, (1 << 14) / work + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const int64_t first = taps.first[static_cast<size_t>(row % out)];
        const int64_t count = taps.first[static_cast<size_t>(row % out) + 1] - first;
        AddTaps(taps.taps.data() + first, count, inner, from + row / out * taps.in * inner,
                to + row * inner);
      }
    });
  });
}

}  // namespace torus::cpu
