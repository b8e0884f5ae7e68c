#include "runtime/cuda/kernels.h"
#include "runtime/cuda/strided.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

template <class T>
struct FillWith {
  T* out;
  T value;
  __device__ void operator()(int64_t i) const { out[i] = value; }
};

template <class To, class From>
struct CopyWalk {
  const From* in;
  To* out;
  StridedWalk<2> walk;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    out[places.at[1]] = ElementCast<To, From>()(in[places.at[0]]);
  }
};

template <class T>
struct AddTo {
  T* out;
  const T* in;
  __device__ void operator()(int64_t i) const {
    using Sum = SumOf<T>;
    const ElementCast<Sum, T> wide;
    out[i] = ElementCast<T, Sum>()(static_cast<Sum>(wide(out[i]) + wide(in[i])));
  }
};

template <class T>
struct ScaleBy {
  T* out;
  T factor;
  __device__ void operator()(int64_t i) const { out[i] *= factor; }
};

template <class T>
struct CountFrom0 {
  T* out;
  __device__ void operator()(int64_t i) const { out[i] = ElementCast<T, int64_t>()(i); }
};

}  // namespace

void Fill(void* out, DType dtype, int64_t count, double value, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    ForEach("fill", count, stream,
            FillWith<T>{static_cast<T*>(out), ElementCast<T, double>()(value)});
  });
}

void CopyStrided(const void* in, DType from, void* out, DType to, const BroadcastPlan& plan,
                 StreamHandle stream) {
  const auto walk = WalkOf<2>(plan);
  const int64_t count = Numel(plan.shape);
  VisitDType(from, [&](auto from_zero) {
    VisitDType(to, [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      ForEach("copy", count, stream,
              CopyWalk<To, From>{static_cast<const From*>(in), static_cast<To*>(out), walk});
    });
  });
}

void AddInPlace(void* out, const void* in, DType dtype, int64_t count, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, uint8_t>)
      ForEach("add_in_place", count, stream,
              AddTo<T>{static_cast<T*>(out), static_cast<const T*>(in)});
  });
}

void ScaleInPlace(void* out, DType dtype, int64_t count, double factor, StreamHandle stream) {
  VisitCompute("scale_in_place", dtype, [&]<class T>(ComputeType<T>) {
    ForEach("scale_in_place", count, stream,
            ScaleBy<T>{static_cast<T*>(out), static_cast<T>(factor)});
  });
}

void FillArange(void* out, DType dtype, int64_t count, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    ForEach("count", count, stream, CountFrom0<T>{static_cast<T*>(out)});
  });
}

}  // namespace torus::cuda
