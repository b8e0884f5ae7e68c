#include "ops/activation/activation_functors.h"
#include "ops/elementwise/cpu/map_loops.h"

namespace torus::cpu {

TORUS_DECLARE_VECTOR_MAP(SigmoidFunctor)
TORUS_DECLARE_VECTOR_MAP(TanhFunctor)
TORUS_DECLARE_VECTOR_MAP(SiluFunctor)
TORUS_DECLARE_VECTOR_MAP(GeluFunctor)
TORUS_DECLARE_VECTOR_MAP(GeluTanhFunctor)

TORUS_INSTANTIATE_MAP(SigmoidFunctor)
TORUS_INSTANTIATE_MAP(TanhFunctor)
TORUS_INSTANTIATE_MAP(SiluFunctor)
TORUS_INSTANTIATE_MAP(GeluFunctor)
TORUS_INSTANTIATE_MAP(GeluTanhFunctor)
TORUS_INSTANTIATE_MAP(HardtanhFunctor)
TORUS_INSTANTIATE_MAP(ReluFunctor)
TORUS_INSTANTIATE_MAP(LeakyReluFunctor)
TORUS_INSTANTIATE_MAP(LogSigmoidFunctor)
TORUS_INSTANTIATE_MAP(SoftplusFunctor)

}  // namespace torus::cpu
