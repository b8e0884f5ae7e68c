// KMeans: quantizes each value to the nearest of 2^b numbers, b = 1 to 8, that k-means fits to the
// values.
//
// The numbers come from Lloyd's algorithm (Lloyd, "Least squares quantization in PCM", 1982) on a
// histogram of the values with 65536 bins (bin_counts.h; a bin is 2^-7 wide relative to its
// values), so a pass costs the same for any number of values. It starts with numbers as dense as
// the cube root of the values' density (Panter and Dite, 1951), and ends after 25 passes or when
// nothing moves. All of this depends on the counts alone, so every team size gives the same
// numbers.
//
// Error: |out - in| is exactly the distance to the nearest number (apart from the rounding of
// float32 subtraction). The minimum and maximum of the values bound the numbers, so constant values
// are restored exactly.
//
// If a value is infinite or NaN, Encode writes nothing (codec.h).
//
// Wire format, little-endian:
//   offset   bytes          what
//   0        4 * 2^b        the numbers, ascending, float32
//   4 * 2^b  ceil(n b / 8)  the index of each value's number, b bits each, packed by bit_pack.h
#pragma once

#include "parallel/codec/codec.h"

namespace torus::parallel {

class KMeans : public Codec {
 public:
  // Throws BadInput unless 1 <= bits <= 8.
  explicit KMeans(int bits);

  std::string name() const override;
  size_t MaxEncodedBytes(int64_t count) const override;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  // Also throws BadInput if the numbers are not finite or not ascending.
  void Decode(std::span<const std::byte> in, std::span<float> out) override;

 private:
  size_t HeaderBytes() const { return sizeof(float) << bits_; }

  int bits_;
};

}  // namespace torus::parallel
