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
template <class F>
void Encode8(std::span<const float> in, int power, std::byte* out) {
  const double scale = PowerOfTwo(power);
  ForEachBlock(static_cast<int64_t>(in.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out[i] = static_cast<std::byte>(F::FromFloat(static_cast<float>(in[i] * scale)));
  });
}

// Whether all are finite.
template <class F>
bool Decode8(const std::byte* in, int power, std::span<float> out) {
  const double scale = PowerOfTwo(-power);
  std::atomic<bool> finite = true;
  ForEachBlock(static_cast<int64_t>(out.size()), [&](int64_t begin, int64_t end) {
    bool all = true;
    for (int64_t i = begin; i < end; ++i) {
      const auto code = static_cast<uint8_t>(in[i]);
      out[i] = ScaledFloat8<F>(code, scale);
      all = all && (code & 0x7fu) <= F::kGreatest;
    }
    if (!all) finite = false;
  });
  return finite;
}

template <class Format>
void Encode16(std::span<const float> in, std::byte* out) {
  ForEachBlock(static_cast<int64_t>(in.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint16_t bits = Format::FromFloat(in[i]);
      std::memcpy(out + sizeof(bits) * i, &bits, sizeof(bits));
    }
  });
}

template <class Format>
bool Decode16(const std::byte* in, std::span<float> out) {
  std::atomic<bool> finite = true;
  ForEachBlock(static_cast<int64_t>(out.size()), [&](int64_t begin, int64_t end) {
    bool all = true;
    for (int64_t i = begin; i < end; ++i) {
      uint16_t bits;
      std::memcpy(&bits, in + sizeof(bits) * i, sizeof(bits));
      out[i] = Format::ToFloat(bits);
      all = all && out[i] - out[i] == 0;
    }
    if (!all) finite = false;
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
  const ValueRange range = RangeOf(in);
  if (!range.finite) return 0;
  if (format_ == SmallFloat::kF16) Encode16<FiniteHalf>(in, out.data());
  if (format_ == SmallFloat::kBF16) Encode16<FiniteBFloat>(in, out.data());
  if (!is_f8()) return bytes;
  const bool e4m3 = format_ == SmallFloat::kE4M3;
  const int32_t power =
      e4m3 ? ScalePower<E4M3>(range.magnitude()) : ScalePower<E5M2>(range.magnitude());
  std::memcpy(out.data(), &power, kScaleBytes);
  (e4m3 ? Encode8<E4M3> : Encode8<E5M2>)(in, power, out.data() + kScaleBytes);
  return bytes;
}

void SmallFloats::Decode(std::span<const std::byte> in, std::span<float> out) {
  const size_t bytes = MaxEncodedBytes(static_cast<int64_t>(out.size()));
  Require(in.size() == bytes, name(), "{} values are {} bytes, got {}", out.size(), bytes,
          in.size());
  bool finite = true;
  if (is_f8()) {
    int32_t power;
    std::memcpy(&power, in.data(), kScaleBytes);
    Require(power >= kLeastScalePower && power <= kMostScalePower, name(),
            "takes a scale of 2^{} to 2^{}, "
            "got 2^{}",
            kLeastScalePower, kMostScalePower, power);
    const auto decode = format_ == SmallFloat::kE4M3 ? Decode8<E4M3> : Decode8<E5M2>;
    finite = decode(in.data() + kScaleBytes, power, out);
  } else {
    const auto decode = format_ == SmallFloat::kF16 ? Decode16<FiniteHalf> : Decode16<FiniteBFloat>;
    finite = decode(in.data(), out);
  }
  Require(finite, name(), "needs finite numbers, got an infinite one or NaN");
}

}  // namespace torus::parallel
