#include "parallel/codec/dynamic8.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

#include "parallel/codec/bit_pack.h"
#include "parallel/codec/for_each_block.h"
#include "parallel/codec/nearest_dynamic8.h"
#include "parallel/codec/value_range.h"
#include "runtime/dynamic_numbers.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

// A block's numbers, and its greatest magnitude. Returns whether all values are finite; if not,
// nothing is written.
bool EncodeBlock(std::span<const float> in, std::byte* magnitude, std::byte* numbers) {
  const ValueRange range = RangeOf(in);
  if (!range.finite) return false;
  const float most = range.magnitude();
  std::memcpy(magnitude, &most, sizeof(most));
  const double inverse = most > 0 ? 1 / double{most} : 0;
  std::array<uint16_t, kCodecBlock> places;
  for (size_t i = 0; i < in.size(); i += places.size()) {
    const auto piece = in.subspan(i, std::min(places.size(), in.size() - i));
    NearestDynamic8().Find(piece, inverse, places.data());
    PackBits(places.data(), static_cast<int64_t>(piece.size()), 8, numbers + i);
  }
  return true;
}

// Fewer blocks are not worth waking a thread.
int64_t GrainOf(int64_t block) { return std::max<int64_t>(1, (1 << 14) / block); }

}  // namespace

std::span<const float> Dynamic8::Numbers() { return DynamicNumbers(true); }

Dynamic8::Dynamic8(int64_t block)
    : block_(block), on_gpu_({.codec = PlainCodec::kDynamic8, .block = block}, Dynamic8::name()) {
  Require(block >= 1 && block <= 1 << 20, "dynamic8", "takes 1 to 2^20 values a block, got {}",
          block);
}

const GpuCodec* Dynamic8::on_gpu() const { return kHasCuda ? &on_gpu_ : nullptr; }

std::string Dynamic8::name() const {
  return block_ == kUsualBlock ? "dynamic8" : fmt::format("dynamic8:{}", block_);
}

size_t Dynamic8::MaxEncodedBytes(int64_t count) const {
  return on_gpu_.format().EncodedBytes(count);
}

size_t Dynamic8::Encode(std::span<const float> in, std::span<std::byte> out) {
  const int64_t count = static_cast<int64_t>(in.size());
  const int64_t blocks = on_gpu_.format().Blocks(count);
  const size_t bytes = MaxEncodedBytes(count);
  Require(out.size() >= bytes, name(), "{} values need {} bytes, got room for {}", count, bytes,
          out.size());
  std::byte* const numbers = out.data() + on_gpu_.format().HeaderBytes(count);
  std::atomic<bool> finite = true;
  ParallelFor(blocks, GrainOf(block_), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      const int64_t begin = b * block_, size = std::min(block_, count - begin);
      if (!EncodeBlock(in.subspan(begin, size), out.data() + sizeof(float) * b, numbers + begin))
        finite = false;
    }
  });
  return finite ? bytes : 0;
}

void Dynamic8::Decode(std::span<const std::byte> in, std::span<float> out) {
  const int64_t count = static_cast<int64_t>(out.size());
  const int64_t blocks = on_gpu_.format().Blocks(count);
  Require(in.size() == MaxEncodedBytes(count), name(), "{} values are {} bytes, got {}", count,
          MaxEncodedBytes(count), in.size());
  const std::byte* const codes = in.data() + on_gpu_.format().HeaderBytes(count);
  const std::span<const float> numbers = Numbers();
  ParallelFor(blocks, GrainOf(block_), [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b) {
      float most;
      std::memcpy(&most, in.data() + sizeof(float) * b, sizeof(float));
      Require(std::isfinite(most) && most >= 0, name(),
              "needs a finite magnitude, got {} of block "
              "{}",
              most, b);
      const int64_t end = std::min(count, (b + 1) * block_);
      for (int64_t i = b * block_; i < end; ++i)
        out[i] = most * numbers[std::to_integer<size_t>(codes[i])];
    }
  });
}

}  // namespace torus::parallel
