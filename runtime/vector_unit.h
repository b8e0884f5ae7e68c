// The vector unit that this machine's kernels use. The bits of sums may depend on it.
#pragma once

#include <string>

namespace torus {

// The widest one that the processor has, as Highway names it: "AVX2", "AVX3", "NEON".
std::string VectorUnit();

// Whether the processor has instructions for bf16 matrix products: AVX512_BF16 or AMX_BF16.
bool HasBf16Products();

}  // namespace torus
