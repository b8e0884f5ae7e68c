#include "ops/elementwise/cpu/map_loops.h"
#include "ops/elementwise/math_functors.h"

namespace torus::cpu {

TORUS_DECLARE_VECTOR_MAP(ExpFunctor)

TORUS_MATH_FUNCTORS(TORUS_INSTANTIATE_MAP)
TORUS_STEP_FUNCTORS(TORUS_INSTANTIATE_MAP_FORWARD)

}  // namespace torus::cpu
