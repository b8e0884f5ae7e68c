// Kernels that apply one functor to every element. They assume what the public calls have checked.
#pragma once

#include <cstdint>

#include "ops/activation/activation_functors.h"
#include "ops/activation/math_functors.h"

namespace torus::cpu {

// y[i] = f.Forward(x[i]); F is any functor of the two headers above, T float or double.
template <class F, class T>
void MapForward(const F& f, int64_t n, const T* x, T* y);

// dx[i] = f.Backward(kept[i], dy[i]), `kept` being y or x as F::kKeepsOutput says.
template <class F, class T>
void MapBackward(const F& f, int64_t n, const T* kept, const T* dy, T* dx);

// The functors whose float kernels are written for the vector unit.
#define TORUS_VECTORISED_FUNCTORS(APPLY) \
  APPLY(SigmoidFunctor)                  \
  APPLY(TanhFunctor)                     \
  APPLY(SiluFunctor)                     \
  APPLY(GeluFunctor)                     \
  APPLY(GeluTanhFunctor)                 \
  APPLY(ExpFunctor)

#define TORUS_DECLARE(F)                                                 \
  template <>                                                            \
  void MapForward(const ops::F& f, int64_t n, const float* x, float* y); \
  template <>                                                            \
  void MapBackward(const ops::F& f, int64_t n, const float* kept, const float* dy, float* dx);
TORUS_VECTORISED_FUNCTORS(TORUS_DECLARE)
#undef TORUS_DECLARE

}  // namespace torus::cpu
