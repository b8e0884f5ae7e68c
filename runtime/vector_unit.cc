#include "runtime/vector_unit.h"

#include <hwy/highway.h>

namespace torus {

std::string VectorUnit() {
  int64_t all = hwy::SupportedTargets();
#ifdef __aarch64__
  all &= HWY_TARGETS;  // of a processor with SVE too, our kernels use NEON
#endif
  return hwy::TargetName(all & -all);  // better targets have lower bits
}

bool HasBf16Products() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

}  // namespace torus
