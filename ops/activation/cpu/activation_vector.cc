// The f32 loops of the activation functions that need exp, once for every vector width.
#include "ops/activation/activation_functors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/cpu/activation_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "ops/activation/cpu/activation-inl.h"
#include "ops/elementwise/cpu/map-inl.h"

HWY_BEFORE_NAMESPACE();
namespace torus::cpu::HWY_NAMESPACE {

TORUS_VECTOR_MAP(Sigmoid)
TORUS_VECTOR_MAP(Tanh)
TORUS_VECTOR_MAP(Silu)
TORUS_VECTOR_MAP(Gelu)
TORUS_VECTOR_MAP(GeluTanh)

}  // namespace torus::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::cpu {

TORUS_EXPORT_VECTOR_MAP(Sigmoid)
TORUS_EXPORT_VECTOR_MAP(Tanh)
TORUS_EXPORT_VECTOR_MAP(Silu)
TORUS_EXPORT_VECTOR_MAP(Gelu)
TORUS_EXPORT_VECTOR_MAP(GeluTanh)

}  // namespace torus::cpu
#endif  // HWY_ONCE
