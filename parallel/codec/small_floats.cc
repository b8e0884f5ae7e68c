#include "parallel/codec/small_floats.h"

#include <atomic>
#include <cstring>

#include "parallel/codec/for_each_block.h"
#include "parallel/codec/small_float_bits.h"
#include "parallel/codec/value_range.h"
#include "runtime/error.h"
#include "runtime/on_device.h"

namespace torus::parallel {
namespace {

constexpr size_t kScaleBytes = sizeof(int32_t);

bool IsFloat8(SmallFloat format) {
  return format == SmallFloat::kE4M3 || format == SmallFloat::kE5M2;
}

int64_t SizeOf(SmallFloat format) { return IsFloat8(format) ? 1 : 2; }

// Whether all values are finite.
bool EncodeBlocks(SmallFloat format, int power, std::span<const float> in, std::byte* out) {
  const int64_t size = SizeOf(format);
  std::atomic<bool> finite = true;
  ForEachBlock(static_cast<int64_t>(in.size()), [&](int64_t begin, int64_t end) {
    if (!EncodeSmallFloats(format, power, in.data() + begin, end - begin, out + begin * size))
      finite = false;
  });
  return finite;
}

bool DecodeBlocks(SmallFloat format, int power, const std::byte* in, std::span<float> out) {
  const int64_t size = SizeOf(format);
  std::atomic<bool> finite = true;
  ForEachBlock(static_cast<int64_t>(out.size()), [&](int64_t begin, int64_t end) {
    if (!DecodeSmallFloats(format, power, in + begin * size, end - begin, out.data() + begin))
      finite = false;
  });
  return finite;
}

PlainCodec PlainCodecOf(SmallFloat format) {
  constexpr PlainCodec kAll[] = {PlainCodec::kF16, PlainCodec::kBF16, PlainCodec::kE4M3,
                                 PlainCodec::kE5M2};
  return kAll[static_cast<int>(format)];
}

}  // namespace

SmallFloats::SmallFloats(SmallFloat format)
    : format_(format), on_gpu_({PlainCodecOf(format)}, SmallFloats::name()) {}

const GpuCodec* SmallFloats::on_gpu() const { return kHasCuda ? &on_gpu_ : nullptr; }

std::string SmallFloats::name() const {
  constexpr const char* kNames[] = {"f16", "bf16", "f8:e4m3", "f8:e5m2"};
  return kNames[static_cast<int>(format_)];
}

size_t SmallFloats::MaxEncodedBytes(int64_t count) const {
  return on_gpu_.format().EncodedBytes(count);
}

size_t SmallFloats::Encode(std::span<const float> in, std::span<std::byte> out) {
  const size_t bytes = MaxEncodedBytes(static_cast<int64_t>(in.size()));
  Require(out.size() >= bytes, name(), "{} values need {} bytes, got room for {}", in.size(), bytes,
          out.size());
  if (!IsFloat8(format_)) return EncodeBlocks(format_, 0, in, out.data()) ? bytes : 0;
  const ValueRange range = RangeOf(in);
  if (!range.finite) return 0;
  const int32_t power = format_ == SmallFloat::kE4M3 ? ScalePower<E4M3>(range.magnitude())
                                                     : ScalePower<E5M2>(range.magnitude());
  std::memcpy(out.data(), &power, kScaleBytes);
  EncodeBlocks(format_, power, in, out.data() + kScaleBytes);
  return bytes;
}

void SmallFloats::Decode(std::span<const std::byte> in, std::span<float> out) {
  const size_t bytes = MaxEncodedBytes(static_cast<int64_t>(out.size()));
  Require(in.size() == bytes, name(), "{} values are {} bytes, got {}", out.size(), bytes,
          in.size());
  int32_t power = 0;
  if (IsFloat8(format_)) {
    std::memcpy(&power, in.data(), kScaleBytes);
    Require(power >= kLeastScalePower && power <= kMostScalePower, name(),
            "takes a scale of 2^{} to 2^{}, got 2^{}", kLeastScalePower, kMostScalePower, power);
    in = in.subspan(kScaleBytes);
  }
  const bool finite = DecodeBlocks(format_, power, in.data(), out);
  Require(finite, name(), "needs finite numbers, got an infinite one or NaN");
}

}  // namespace torus::parallel
