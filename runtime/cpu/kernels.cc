#include "runtime/cpu/kernels.h"

#include <algorithm>

#include "runtime/cpu/cast_elements.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // fewest elements that are worth waking a thread

template <class T>
void AddElements(T* to, const T* from, int64_t count) {
  using Sum = SumOf<T>;
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(static_cast<Sum>(to[i]) + static_cast<Sum>(from[i]));
}

// In blocks of floats, whose casts are vector code.
void AddElements(Float16* to, const Float16* from, int64_t count) {
  constexpr int64_t kBlock = 256;
  float sum[kBlock], more[kBlock];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t size = std::min(kBlock, count - i);
    CastElements(to + i, size, sum);
    CastElements(from + i, size, more);
    AddElements<float>(sum, more, size);
    CastElements(sum, size, to + i);
  }
}

}  // namespace

void AddInPlace(Tensor& out, const Tensor& in) {
  VisitDType(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, uint8_t>) {
      T* p = out.mutable_data<T>();
      const T* q = in.data<T>();
      ParallelFor(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
        AddElements(p + begin, q + begin, end - begin);
      });
    } else {
      Throw<BadInput>("add_in_place", "does not add {}", Name(out.dtype()));
    }
  });
}

void ScaleInPlace(Tensor& out, double factor) {
  VisitCompute("scale_in_place", out.dtype(), [&]<class T>(ComputeType<T>) {
    T* p = out.mutable_data<T>();
    const T f = static_cast<T>(factor);
    ParallelFor(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) p[i] *= f;
    });
  });
}

void FillArange(Tensor& out) {
  VisitDType(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* p = out.mutable_data<T>();
    for (int64_t i = 0; i < out.numel(); ++i) p[i] = CastElement<T>(i);
  });
}

}  // namespace torus::cpu
