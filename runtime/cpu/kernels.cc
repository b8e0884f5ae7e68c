#include "runtime/cpu/kernels.h"

#include <algorithm>

#include "runtime/copy_bytes.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // fewest elements that are worth waking a thread

template <class To, class From>
To Cast(From value) {
  constexpr bool half_from = std::is_same_v<From, BFloat16> || std::is_same_v<From, Float16>;
  constexpr bool half_to = std::is_same_v<To, BFloat16> || std::is_same_v<To, Float16>;
  if constexpr (half_from)
    return Cast<To>(static_cast<float>(value));
  else if constexpr (half_to)
    return To(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

// Calls row(offset_a, offset_b) for every index of the outer dimensions of `shape`; `row` handles
// the innermost one.
template <class Row>
void ForEachRow(const Shape& shape, const Strides& a, const Strides& b, const Row& row) {
  const int outer = shape.rank() - 1;
  int64_t rows = 1;
  for (int i = 0; i < outer; ++i) rows *= shape[i];
  Dims index = Dims::Filled(outer, 0);
  int64_t offset_a = 0, offset_b = 0;
  for (int64_t r = 0; r < rows; ++r) {
    row(offset_a, offset_b);
    for (int i = outer - 1; i >= 0; --i) {
      offset_a += a[i];
      offset_b += b[i];
      if (++index[i] < shape[i]) break;
      offset_a -= a[i] * shape[i];
      offset_b -= b[i] * shape[i];
      index[i] = 0;
    }
  }
}

template <class From, class To>
void CopyStrided(const From* in, const Strides& in_strides, To* out, const Strides& out_strides,
                 const Shape& shape) {
  if (shape.rank() == 0) {
    *out = Cast<To>(*in);
    return;
  }
  const int last = shape.rank() - 1;
  const int64_t n = shape[last], in_step = in_strides[last], out_step = out_strides[last];
  ForEachRow(shape, in_strides, out_strides, [&](int64_t a, int64_t b) {
    const From* from = in + a;
    To* to = out + b;
    for (int64_t i = 0; i < n; ++i) to[i * out_step] = Cast<To>(from[i * in_step]);
  });
}

// The outermost dimension is split among threads.
template <class From, class To>
void CopySplit(const From* in, const Strides& in_strides, To* out, const Strides& out_strides,
               const Shape& shape) {
  if (shape.rank() < 2) return CopyStrided(in, in_strides, out, out_strides, shape);
  const int64_t inner = std::max<int64_t>(1, Numel(shape) / std::max<int64_t>(1, shape[0]));
  ParallelFor(shape[0], std::max<int64_t>(1, kGrain / inner), [&](int64_t begin, int64_t end) {
    Shape part = shape;
    part[0] = end - begin;
    CopyStrided(in + begin * in_strides[0], in_strides, out + begin * out_strides[0], out_strides,
                part);
  });
}

void CopyFlat(const void* in, void* out, size_t bytes) {
  ParallelFor(static_cast<int64_t>(bytes), 4 * kGrain, [&](int64_t begin, int64_t end) {
    CopyBytes(static_cast<char*>(out) + begin, static_cast<const char*>(in) + begin, end - begin);
  });
}

}  // namespace

void Fill(Tensor& out, double value) {
  VisitDType(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T v = Cast<T>(value);
    T* p = out.mutable_data<T>();
    if (out.is_contiguous()) {
      ParallelFor(out.numel(), kGrain,
                  [&](int64_t begin, int64_t end) { std::fill(p + begin, p + end, v); });
    } else {
      const Strides none = Dims::Filled(out.rank(), 0);
      CopyStrided(&v, none, p, out.strides(), out.shape());
    }
  });
}

void Copy(const Tensor& in, Tensor& out) {
  if (in.dtype() == out.dtype() && in.is_contiguous() && out.is_contiguous()) {
    return CopyFlat(in.raw(), out.mutable_raw(), in.bytes());
  }
  VisitDType(in.dtype(), [&](auto from) {
    VisitDType(out.dtype(), [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      CopySplit(in.data<From>(), in.strides(), out.mutable_data<To>(), out.strides(), in.shape());
    });
  });
}

void AddInPlace(Tensor& out, const Tensor& in) {
  VisitDType(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, uint8_t>) {
      using Sum = SumOf<T>;
      T* p = out.mutable_data<T>();
      const T* q = in.data<T>();
      ParallelFor(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          p[i] = static_cast<T>(static_cast<Sum>(p[i]) + static_cast<Sum>(q[i]));
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
    for (int64_t i = 0; i < out.numel(); ++i) p[i] = Cast<T>(i);
  });
}

}  // namespace torus::cpu
