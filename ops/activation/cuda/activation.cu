#include "ops/activation/activation_functors.h"
//
#include "ops/elementwise/cuda/map_loops.h"

namespace torus::cuda {

TORUS_ACTIVATION_FUNCTORS(TORUS_INSTANTIATE_MAP)

}  // namespace torus::cuda
