#include "ops/elementwise/cpu/map_loops.h"
#include "ops/elementwise/math_functors.h"

namespace torus::cpu {

TORUS_DECLARE_VECTOR_MAP(ExpFunctor)

TORUS_INSTANTIATE_MAP(ExpFunctor)
TORUS_INSTANTIATE_MAP(LogFunctor)
TORUS_INSTANTIATE_MAP(SqrtFunctor)
TORUS_INSTANTIATE_MAP(RsqrtFunctor)
TORUS_INSTANTIATE_MAP(AbsFunctor)
TORUS_INSTANTIATE_MAP(ErfFunctor)

}  // namespace torus::cpu
