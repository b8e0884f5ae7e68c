#include "ops/elementwise/math_functors.h"
//
#include "ops/elementwise/cuda/map_loops.h"

namespace torus::cuda {

TORUS_MATH_FUNCTORS(TORUS_INSTANTIATE_MAP)
TORUS_STEP_FUNCTORS(TORUS_INSTANTIATE_MAP_FORWARD)

}  // namespace torus::cuda
