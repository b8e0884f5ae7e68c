#include "runtime/vector_unit.h"

#include <hwy/highway.h>

namespace torus {

std::string VectorUnit() {
  const int64_t all = hwy::SupportedTargets();
  return hwy::TargetName(all & -all);  // better targets have lower bits
}

}  // namespace torus
