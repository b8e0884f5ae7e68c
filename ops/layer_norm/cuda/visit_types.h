// The types that layer norm's kernels take: In is that of x and dx, Out that of y and dy. Where the
// kernels add a product, they say that it is not rounded before, so that all types have the same
// bits in f32. Only for its kernel sources.
#pragma once

#include <type_traits>

#include "ops/cuda/floats.h"
#include "runtime/tensor.h"

namespace torus::cuda {

inline constexpr const char* kLayerNormOp = "layer_norm";

// Calls f<In, Out>() with the element types of x and y.
template <class F>
void VisitLayerNormTypes(const Tensor& x, const Tensor& y, const F& f) {
  TORUS_CHECK(y.dtype() == x.dtype() || (x.dtype() == DType::kF32 && IsLow(y.dtype())),
              "from {} to {}", x, y);
  VisitFloats(kLayerNormOp, x.dtype(), [&]<class In>(ComputeType<In>) {
    if constexpr (std::is_same_v<In, float>) {
      if (y.dtype() == DType::kBF16) return f.template operator()<In, BFloat16>();
      if (y.dtype() == DType::kF16) return f.template operator()<In, Float16>();
    }
    f.template operator()<In, In>();
  });
}

}  // namespace torus::cuda
