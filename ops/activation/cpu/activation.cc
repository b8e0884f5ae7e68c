#include "ops/activation/activation_functors.h"
#include "ops/elementwise/cpu/map_loops.h"

namespace torus::cpu {

TORUS_DECLARE_VECTOR_MAP(SigmoidFunctor)
TORUS_DECLARE_VECTOR_MAP(TanhFunctor)
TORUS_DECLARE_VECTOR_MAP(SiluFunctor)
TORUS_DECLARE_VECTOR_MAP(GeluFunctor)
TORUS_DECLARE_VECTOR_MAP(GeluTanhFunctor)

TORUS_ACTIVATION_FUNCTORS(TORUS_INSTANTIATE_MAP)

}  // namespace torus::cpu
