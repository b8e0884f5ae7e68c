// K-means: 2^b numbers, b of 1 to 8, that lie where the values are, and for each value the nearest
// one.
//
// The numbers come from Lloyd's algorithm (Lloyd, "Least squares quantization in PCM", 1982) on a
// histogram of the values with 65536 bins (bin_counts.h; a bin's values lie within 2^-7 of each
// other), so that a pass costs the same whatever the number of values. It begins where Panter and
// Dite (1951) put the numbers for a smooth density, as the density's cube root, and ends after 25
// passes or when nothing moves. All of it is a function of the counts: the same for every team.
//
// Error: |out - in| is the distance to the nearest number, exactly (float32 subtraction aside).
// The least and the greatest value bound the numbers, so a constant comes back exactly.
//
// A value that is infinite or NaN: Encode writes nothing (codec.h).
//
// Wire format, little-endian:
//   offset   bytes          what
//   0        4 * 2^b        the numbers, ascending, float32
//   4 * 2^b  ceil(n b / 8)  the place of each value's number, b bits each, packed by bit_pack.h
#pragma once

#include "parallel/codec/codec.h"

namespace torus::parallel {

class KMeans : public Codec {
 public:
  // BadInput unless 1 <= bits <= 8.
  explicit KMeans(int bits);

  std::string name() const override;
  size_t MaxEncodedBytes(int64_t count) const override;
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override;
  // BadInput also where the numbers are not finite or do not ascend.
  void Decode(std::span<const std::byte> in, std::span<float> out) override;

 private:
  size_t HeaderBytes() const { return sizeof(float) << bits_; }

  int bits_;
};

}  // namespace torus::parallel
