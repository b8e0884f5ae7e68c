// The inner loops of SmallFloats on vectors. Highway picks the vector width; every width gives the
// bits of small_float_bits.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace torus::parallel {

enum class SmallFloat : uint8_t { kF16, kBF16, kE4M3, kE5M2 };

// Writes the numbers of `count` values to `out`. f8 multiplies them by 2^power first; the products
// must not exceed the format's greatest number. Returns whether all values are finite; if not, what
// was written is not valid.
bool EncodeSmallFloats(SmallFloat format, int power, const float* in, int64_t count,
                       std::byte* out);

// The inverse; f8 divides by 2^power and clamps to float32. Returns whether all numbers are finite.
bool DecodeSmallFloats(SmallFloat format, int power, const std::byte* in, int64_t count,
                       float* out);

}  // namespace torus::parallel
