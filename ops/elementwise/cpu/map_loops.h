// The loops of map.h, for sources that instantiate them with TORUS_INSTANTIATE_MAP(Functor).
#pragma once

#include "ops/cpu/low_pieces.h"
#include "ops/elementwise/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

constexpr int64_t kMapGrain = 1 << 13;  // elements that are worth waking a thread for

// Elements are independent, so the split changes no bits.
template <class F, class T>
void MapForward(const F& f, int64_t n, const T* x, T* y) {
  ParallelFor(n, kMapGrain, [f, x, y](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f.Forward(x[i]);
  });
}

template <class F, class T>
void MapBackward(const F& f, int64_t n, const T* kept, const T* dy, T* dx) {
  ParallelFor(n, kMapGrain, [f, kept, dy, dx](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dx[i] = f.Backward(kept[i], dy[i]);
  });
}

// bf16 is computed in f32 and rounded once.
template <class F>
void MapForward(const F& f, int64_t n, const BFloat16* x, BFloat16* y) {
  ParallelFor(n, kMapGrain, [f, x, y](int64_t begin, int64_t end) {
    float in[kLowPiece], out[kLowPiece];
    ForPieces(begin, end, [&](int64_t at, int64_t count) {
      Widen(x + at, count, in);
      MapForward(f, count, in, out);
      Round(out, count, y + at);
    });
  });
}

template <class F>
void MapBackward(const F& f, int64_t n, const BFloat16* kept, const BFloat16* dy, BFloat16* dx) {
  ParallelFor(n, kMapGrain, [f, kept, dy, dx](int64_t begin, int64_t end) {
    float saved[kLowPiece], gradient[kLowPiece], out[kLowPiece];
    ForPieces(begin, end, [&](int64_t at, int64_t count) {
      Widen(kept + at, count, saved);
      Widen(dy + at, count, gradient);
      MapBackward(f, count, saved, gradient, out);
      Round(out, count, dx + at);
    });
  });
}

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y) {
  if (x.dtype() == DType::kBF16)
    return MapForward(f, x.numel(), x.data<BFloat16>(), y.mutable_data<BFloat16>());
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    MapForward(f, x.numel(), x.data<T>(), y.mutable_data<T>());
  });
}

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy,
                 Tensor& dx) {
  if (kept.dtype() == DType::kBF16)
    return MapBackward(f, kept.numel(), kept.data<BFloat16>(), dy.data<BFloat16>(),
                       dx.mutable_data<BFloat16>());
  VisitCompute(op, kept.dtype(), [&]<class T>(ComputeType<T>) {
    MapBackward(f, kept.numel(), kept.data<T>(), dy.data<T>(), dx.mutable_data<T>());
  });
}

}  // namespace torus::cpu

// For a functor without Backward.
#define TORUS_INSTANTIATE_MAP_FORWARD(F) \
  template void MapForward(std::string_view, const ops::F&, const Tensor&, Tensor&);

#define TORUS_INSTANTIATE_MAP(F)   \
  TORUS_INSTANTIATE_MAP_FORWARD(F) \
  template void MapBackward(std::string_view, const ops::F&, const Tensor&, const Tensor&, Tensor&);

// Write this before TORUS_INSTANTIATE_MAP for a functor whose f32 loops are vectorised in another
// source.
#define TORUS_DECLARE_VECTOR_MAP(F)                                      \
  template <>                                                            \
  void MapForward(const ops::F& f, int64_t n, const float* x, float* y); \
  template <>                                                            \
  void MapBackward(const ops::F& f, int64_t n, const float* kept, const float* dy, float* dx);
