#include "ops/reduction/kernels.h"
#include "ops/sum/running_type.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

int64_t Grain(int64_t count) { return (1 << 14) / (count + 1) + 1; }

// One thread computes a whole row, so the split changes no bits.
template <bool kSmallest, class T>
void ExtremeOfRows(int64_t outer, int64_t count, const T* in, T* value, int64_t* where) {
  ParallelFor(outer, Grain(count), [=](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const T* p = in + at * count;
      int64_t best = 0;
      for (int64_t c = 1; c < count; ++c) {
        const T v = p[c], most = p[best];
        if ((kSmallest ? v < most : v > most) || (v != v && most == most)) best = c;
      }
      value[at] = p[best];
      where[at] = best;
    }
  });
}

template <class T>
void ProductOfRows(int64_t outer, int64_t count, const T* in, T* value) {
  ParallelFor(outer, Grain(count), [=](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      ops::RunningType<T> product = 1;
      for (int64_t c = 0; c < count; ++c)
        product *= static_cast<ops::RunningType<T>>(in[at * count + c]);
      value[at] = static_cast<T>(product);
    }
  });
}

}  // namespace

void ExtremeOfRows(std::string_view op, bool smallest, const Tensor& x, Tensor& value,
                   Tensor& where) {
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    const auto run = smallest ? ExtremeOfRows<true, T> : ExtremeOfRows<false, T>;
    run(x.dim(0), x.dim(1), x.data<T>(), value.mutable_data<T>(), where.mutable_data<int64_t>());
  });
}

void ProductOfRows(std::string_view op, const Tensor& x, Tensor& value) {
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ProductOfRows(x.dim(0), x.dim(1), x.data<T>(), value.mutable_data<T>());
  });
}

}  // namespace torus::cpu
