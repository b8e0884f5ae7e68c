#include "runtime/cuda/kernels.h"
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
struct CastTo {
  const From* in;
  To* out;
  __device__ void operator()(int64_t i) const { out[i] = ElementCast<To, From>()(in[i]); }
};

}  // namespace

void Fill(void* out, DType dtype, int64_t count, double value, StreamHandle stream) {
  VisitDType(dtype, [&](auto zero) {
    using T = decltype(zero);
    ForEach("fill", count, stream,
            FillWith<T>{static_cast<T*>(out), ElementCast<T, double>()(value)});
  });
}

void Cast(const void* in, DType from, void* out, DType to, int64_t count, StreamHandle stream) {
  VisitDType(from, [&](auto from_zero) {
    VisitDType(to, [&](auto to_zero) {
      using From = decltype(from_zero);
      using To = decltype(to_zero);
      ForEach("cast", count, stream,
              CastTo<To, From>{static_cast<const From*>(in), static_cast<To*>(out)});
    });
  });
}

}  // namespace torus::cuda
