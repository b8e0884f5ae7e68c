// The vector unit that this machine's kernels use. Bits of sums may depend on it.
#pragma once

#include <string>

namespace torus {

// The widest that the processor has: "AVX2", "AVX3", "NEON", as Highway names it.
std::string VectorUnit();

// Whether it multiplies matrices of bf16 by itself: AVX512_BF16 or AMX_BF16.
bool HasBf16Products();

}  // namespace torus
