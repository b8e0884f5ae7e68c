// The f32 loops of exp, once for every vector width.
#include "ops/elementwise/math_functors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/elementwise/cpu/math_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/cpu/functions-inl.h"
#include "ops/elementwise/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

struct ExpVector {
  template <class D, class V>
  static HWY_INLINE V Forward(D d, V x) {
    return Exp(d, x);
  }
  template <class D, class V>
  static HWY_INLINE V Backward(D, V y, V g) {
    return hn::Mul(g, y);
  }
};

TORUS_VECTOR_MAP(Exp)

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

TORUS_EXPORT_VECTOR_MAP(Exp)

}  // namespace torus::cpu
#endif  // HWY_ONCE
