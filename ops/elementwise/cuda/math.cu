#include "ops/elementwise/math_functors.h"
//
#include "ops/elementwise/cuda/map_loops.h"

namespace torus::cuda {

TORUS_INSTANTIATE_MAP(ExpFunctor)
TORUS_INSTANTIATE_MAP(LogFunctor)
TORUS_INSTANTIATE_MAP(SqrtFunctor)
TORUS_INSTANTIATE_MAP(RsqrtFunctor)
TORUS_INSTANTIATE_MAP(AbsFunctor)
TORUS_INSTANTIATE_MAP(ErfFunctor)

}  // namespace torus::cuda
