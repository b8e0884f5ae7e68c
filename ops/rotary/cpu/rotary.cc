#include "ops/rotary/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kAngles = 1 << 8, kElements = 1 << 14;  // that are worth waking a thread for

// Turns one head; `sign` is -1 to turn back.
template <class T>
void TurnHead(const T* x, const T* cosines, const T* sines, T sign, int64_t half, T* __restrict y) {
  for (int64_t i = 0; i < half; ++i) {
    const T a = x[i], b = x[half + i], sine = sign * sines[i];
    y[i] = a * cosines[i] - b * sine;
    y[half + i] = b * cosines[i] + a * sine;
  }
}

}  // namespace

void RotaryTable(const ops::RotaryFrequencies& frequencies, int64_t first, Tensor& table) {
  const int64_t width = table.dim(1);
  VisitCompute("rotary_embedding", table.dtype(), [&]<class T>(ComputeType<T>) {
    T* const out = table.mutable_data<T>();
    ParallelFor(table.numel(), kAngles, [&, out](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        out[i] = ops::RotaryTableAt<T>(frequencies, first + i / width, i % width, width);
    });
  });
}

void Rotate(const Tensor& x, const Tensor& table, bool back, Tensor& y) {
  const int64_t tokens = table.dim(0), width = table.dim(1), half = width / 2;
  if (y.numel() == 0) return;
  const int64_t heads = x.dim(-2);
  VisitCompute("rotary_embedding", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T *const in = x.data<T>(), *const angles = table.data<T>();
    T* const out = y.mutable_data<T>();
    ParallelFor(y.numel() / width, kElements / width + 1, [=](int64_t begin, int64_t end) {
      for (int64_t head = begin; head < end; ++head) {
        const T* const row = angles + head / heads % tokens * width;
        TurnHead(in + head * width, row, row + half, T(back ? -1 : 1), half, out + head * width);
      }
    });
  });
}

}  // namespace torus::cpu
