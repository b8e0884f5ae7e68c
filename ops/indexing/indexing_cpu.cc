#include <algorithm>

#include "ops/elementwise/broadcast_run.h"
#include "ops/indexing/indexing_kernel.h"

namespace torus::cpu {

template <class T>
void SelectRows(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* index,
                const T* in, T* out) {
  ParallelFor(outer * count, (1 << 14) / (inner + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at)
      std::copy_n(in + (at / count * rows + index[at % count]) * inner, inner, out + at * inner);
  });
}

// A thread owns columns, so that equal indices meet in one order whatever the number of threads.
template <class T>
void AddRows(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* index,
             int64_t skip, const T* dout, T* din) {
  ParallelFor(inner, (1 << 14) / (outer * count + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < outer * rows; ++r)
      std::fill(din + r * inner + begin, din + r * inner + end, T(0));
    for (int64_t at = 0; at < outer * count; ++at) {
      if (index[at % count] == skip) continue;
      T* to = din + (at / count * rows + index[at % count]) * inner;
      for (int64_t i = begin; i < end; ++i) to[i] += dout[at * inner + i];
    }
  });
}

template <class T>
void Gather(const ops::BroadcastPlan& plan, const int64_t* index, int64_t stride, const T* in,
            T* out) {
  ForEachRun<2>(plan, 1 << 14,
                [=](int64_t at, const Offsets<2>& from, int64_t n, const Offsets<2>& step) {
                  for (int64_t i = 0; i < n; ++i)
                    out[at + i] = in[from[0] + i * step[0] + index[from[1] + i * step[1]] * stride];
                });
}

// One thread: places may coincide.
template <class T>
void GatherBackward(const ops::BroadcastPlan& plan, const int64_t* index, int64_t stride,
                    const T* dout, T* din) {
  ForEachRun<2>(plan, Numel(plan.shape),
                [=](int64_t at, const Offsets<2>& from, int64_t n, const Offsets<2>& step) {
                  for (int64_t i = 0; i < n; ++i)
                    din[from[0] + i * step[0] + index[from[1] + i * step[1]] * stride] +=
                        dout[at + i];
                });
}

#define TORUS_INSTANTIATE(T)                                                                   \
  template void SelectRows(int64_t, int64_t, int64_t, int64_t, const int64_t*, const T*, T*);  \
  template void AddRows(int64_t, int64_t, int64_t, int64_t, const int64_t*, int64_t, const T*, \
                        T*);                                                                   \
  template void Gather(const ops::BroadcastPlan&, const int64_t*, int64_t, const T*, T*);      \
  template void GatherBackward(const ops::BroadcastPlan&, const int64_t*, int64_t, const T*, T*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(double)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
