#include "ops/statistics/extremum_kernel.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

// A result belongs to one thread: the split changes no bits.
template <class T>
void MaxMiddle(int64_t outer, int64_t count, int64_t inner, const T* in, T* value, int64_t* where) {
  ParallelFor(outer * inner, (1 << 14) / (count + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const T* p = in + at / inner * count * inner + at % inner;
      int64_t best = 0;
      for (int64_t c = 1; c < count; ++c) {
        const T v = p[c * inner], most = p[best * inner];
        if (v > most || (v != v && most == most)) best = c;
      }
      if (value != nullptr) value[at] = p[best * inner];
      if (where != nullptr) where[at] = best;
    }
  });
}

template void MaxMiddle(int64_t, int64_t, int64_t, const float*, float*, int64_t*);
template void MaxMiddle(int64_t, int64_t, int64_t, const double*, double*, int64_t*);

}  // namespace torus::cpu
