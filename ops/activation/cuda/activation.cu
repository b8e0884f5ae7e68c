#include "ops/activation/activation_functors.h"
//
#include "ops/elementwise/cuda/map_loops.h"

namespace torus::cuda {

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

}  // namespace torus::cuda
