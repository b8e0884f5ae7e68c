#include "ops/reduction/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// One thread computes a whole row, so the split changes no bits.
template <class T>
void LargestOfRows(int64_t outer, int64_t count, const T* in, T* value, int64_t* where) {
  ParallelFor(outer, (1 << 14) / (count + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const T* p = in + at * count;
      int64_t best = 0;
      for (int64_t c = 1; c < count; ++c) {
        const T v = p[c], most = p[best];
        if (v > most || (v != v && most == most)) best = c;
      }
      value[at] = p[best];
      where[at] = best;
    }
  });
}

}  // namespace

void LargestOfRows(std::string_view op, const Tensor& x, Tensor& value, Tensor& where) {
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    LargestOfRows(x.dim(0), x.dim(1), x.data<T>(), value.mutable_data<T>(),
                  where.mutable_data<int64_t>());
  });
}

}  // namespace torus::cpu
