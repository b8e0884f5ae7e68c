// The numbers of block-wise dynamic quantization to 8 bits (Dettmers et al. 2022, "8-bit optimizers
// via block-wise quantization", section 1.3): closer together near zero, over seven decades.
#pragma once

#include <span>

namespace torus {

// 256 numbers, ascending: 0, 1, and for e = 0 ... 6, with both signs, 10^(e - 6) times the middles
// of 2^e equal parts of [0.1, 1]. Without signs 2^(e + 1) parts, so that their gaps are half as
// wide.
std::span<const float, 256> DynamicNumbers(bool with_sign);

}  // namespace torus
