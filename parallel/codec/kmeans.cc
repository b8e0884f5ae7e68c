#include "parallel/codec/kmeans.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "parallel/codec/bin_counts.h"
#include "parallel/codec/bit_pack.h"
#include "parallel/codec/for_each_block.h"
#include "parallel/codec/lloyd.h"
#include "parallel/codec/nearest_number.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int kPasses = 25;

using Codes = std::array<uint16_t, kCodecBlock>;

double FloatOf(uint32_t upper, uint32_t lower) {
  return double{std::bit_cast<float>(upper << 16 | lower)};
}

WeightedPoint PointOf(int bin, int64_t count) {
  const auto upper = static_cast<uint32_t>(BinCounts::UpperHalfOf(bin));
  const double width = std::fabs(FloatOf(upper, 0xffff) - FloatOf(upper, 0));
  const double middle = bin == BinCounts::kZeroBin ? 0 : FloatOf(upper, 0x8000);
  return {middle, static_cast<double>(count), width};
}

// The values must be finite, and at least one.
std::vector<float> NumbersFor(std::span<const float> values, ValueRange range, size_t count) {
  const BinCounts counts(values);
  std::vector<WeightedPoint> points;
  for (int bin = 0; bin < BinCounts::kBins; ++bin)
    if (counts.count(bin) > 0) points.push_back(PointOf(bin, counts.count(bin)));
  std::vector<float> numbers;
  for (const double number : Lloyd(points, count, kPasses))
    numbers.push_back(std::clamp(static_cast<float>(number), range.least, range.greatest));
  return numbers;
}

}  // namespace

KMeans::KMeans(int bits) : bits_(bits) {
  Require(bits >= 1 && bits <= 8, "kmeans", "takes 1 to 8 bits a value, got {}", bits);
}

std::string KMeans::name() const { return fmt::format("kmeans:{}", bits_); }

size_t KMeans::MaxEncodedBytes(int64_t count) const {
  return HeaderBytes() + PackedBytes(count, bits_);
}

size_t KMeans::Encode(std::span<const float> in, std::span<std::byte> out) {
  const int64_t count = static_cast<int64_t>(in.size());
  const size_t bytes = MaxEncodedBytes(count), how_many = size_t{1} << bits_;
  Require(out.size() >= bytes, name(), "{} values need {} bytes, got room for {}", count, bytes,
          out.size());
  const ValueRange range = RangeOf(in);
  if (!range.finite) return 0;
  const std::vector<float> numbers =
      in.empty() ? std::vector<float>(how_many) : NumbersFor(in, range, how_many);
  std::memcpy(out.data(), numbers.data(), HeaderBytes());
  const NearestNumber nearest(numbers);
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    Codes codes;
    nearest.Find(in.subspan(begin, end - begin), 1, codes.data());
    PackBits(codes.data(), end - begin, bits_,
             out.data() + HeaderBytes() + PackedBytes(begin, bits_));
  });
  return bytes;
}

void KMeans::Decode(std::span<const std::byte> in, std::span<float> out) {
  const int64_t count = static_cast<int64_t>(out.size());
  Require(in.size() == MaxEncodedBytes(count), name(), "{} values are {} bytes, got {}", count,
          MaxEncodedBytes(count), in.size());
  std::array<float, 256> numbers;
  std::memcpy(numbers.data(), in.data(), HeaderBytes());
  for (int k = 0; k < 1 << bits_; ++k)
    Require(std::isfinite(numbers[k]) && (k == 0 || numbers[k - 1] <= numbers[k]), name(),
            "needs finite ascending numbers, got {} at {}", numbers[k], k);
  ForEachBlock(count, [&](int64_t begin, int64_t end) {
    Codes codes;
    UnpackBits(in.data() + HeaderBytes() + PackedBytes(begin, bits_), end - begin, bits_,
               codes.data());
    for (int64_t i = begin; i < end; ++i) out[i] = numbers[codes[i - begin]];
  });
}

}  // namespace torus::parallel
