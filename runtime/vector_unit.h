// The vector unit that this machine's kernels use. Bits of sums may depend on it.
#pragma once

#include <string>

namespace torus {

// The widest that the processor has: "AVX2", "AVX3", "NEON", as Highway names it.
std::string VectorUnit();

}  // namespace torus
