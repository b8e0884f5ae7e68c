#include "runtime/kernels.h"

#include <cstring>

#include "runtime/kernels_cuda.h"
#include "runtime/parallel_for.h"

namespace torus {
namespace {

constexpr int64_t kGrain = 1 << 15;  // elements a thread is worth waking for

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

// Walks the innermost dimension of `shape` at every index of the outer ones: row(offset_a,
// offset_b).
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
    std::memcpy(static_cast<char*>(out) + begin, static_cast<const char*>(in) + begin, end - begin);
  });
}

void FillOnCpu(Tensor& out, double value) {
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

void CopyOnCpu(const Tensor& in, Tensor& out) {
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

constexpr cuda::StreamHandle kDefaultStream = nullptr;

void FillOnGpu(Tensor& out, double value) {
  Require(out.is_contiguous(), "fill", "needs contiguous memory on a GPU, got {}", out.Describe());
  cuda::UseDevice(out.device().index);
  cuda::Fill(out.mutable_raw(), out.dtype(), out.numel(), value, kDefaultStream);
}

// Same dtype, any two devices. Memory of the CPU may be read or freed as soon as the call returns,
// so it waits.
void CopyBytesWithGpu(const Tensor& in, Tensor& out) {
  const bool with_cpu =
      in.device().kind == DeviceKind::kCpu || out.device().kind == DeviceKind::kCpu;
  cuda::UseDevice(in.device().kind == DeviceKind::kCuda ? in.device().index : out.device().index);
  cuda::CopyBytes(out.mutable_raw(), in.raw(), in.bytes(), kDefaultStream);
  if (with_cpu) cuda::Synchronize(kDefaultStream);
}

void CopyWithGpu(const Tensor& in, Tensor& out) {
  Require(in.is_contiguous() && out.is_contiguous(), "copy",
          "needs contiguous memory on a GPU, got {} into {}", in.Describe(), out.Describe());
  if (in.dtype() == out.dtype()) return CopyBytesWithGpu(in, out);
  if (in.device() == out.device()) {
    cuda::UseDevice(in.device().index);
    return cuda::Cast(in.raw(), in.dtype(), out.mutable_raw(), out.dtype(), in.numel(),
                      kDefaultStream);
  }
  // Two devices and two dtypes: cast on the GPU that receives, else on the one that sends.
  Tensor staged = out.device().kind == DeviceKind::kCuda
                      ? Tensor(in.shape(), in.dtype(), out.device())
                      : Tensor(in.shape(), out.dtype(), in.device());
  CopyWithGpu(in, staged);
  CopyWithGpu(staged, out);
}

void RequireCpu(const char* op, const Tensor& tensor) {
  Require(tensor.device().kind == DeviceKind::kCpu, op, "has no GPU kernel, got {}",
          tensor.Describe());
}

}  // namespace

void Fill(Tensor& out, double value) {
  if (out.numel() == 0) return;
  OnDevice(
      out.device(), [&] { FillOnCpu(out, value); }, [&] { FillOnGpu(out, value); });
}

void Copy(const Tensor& in, Tensor& out) {
  Require(in.shape() == out.shape(), "copy", "shapes differ: {} into {}", ToString(in.shape()),
          ToString(out.shape()));
  if (in.numel() == 0) return;
  const Device device = in.device().kind == DeviceKind::kCuda ? in.device() : out.device();
  OnDevice(
      device, [&] { CopyOnCpu(in, out); }, [&] { CopyWithGpu(in, out); });
}

void AddInPlace(Tensor& out, const Tensor& in) {
  Require(in.shape() == out.shape() && in.dtype() == out.dtype(), "add_in_place",
          "{} does not add to {}", in.Describe(), out.Describe());
  Require(in.is_contiguous() && out.is_contiguous(), "add_in_place", "needs contiguous tensors");
  RequireCpu("add_in_place", out);
  RequireCpu("add_in_place", in);
  VisitDType(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    constexpr bool half = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;
    if constexpr (half || sizeof(T) >= 4) {
      using Sum = std::conditional_t<half, float, T>;
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
  Require(out.is_contiguous(), "scale_in_place", "needs a contiguous tensor");
  RequireCpu("scale_in_place", out);
  VisitFloat("scale_in_place", out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* p = out.mutable_data<T>();
    const T f = static_cast<T>(factor);
    ParallelFor(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) p[i] *= f;
    });
  });
}

}  // namespace torus
