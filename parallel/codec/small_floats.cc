#include "parallel/codec/small_floats.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "parallel/codec/float8.h"
#include "parallel/codec/for_each_block.h"
#include "parallel/codec/value_range.h"
#include "runtime/element_cast.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr size_t kScaleBytes = sizeof(int32_t);
constexpr double kGreatest = 0x1.fffffep127;
constexpr int kLeastScale = -120, kMostScale = 170;

double PowerOfTwo(int power) { return std::ldexp(1.0, power); }

template <class F>
int ScaleFor(float magnitude) {
  if (magnitude == 0) return 0;
  const double greatest = F::ToFloat(F::kGreatest);
  const int power = static_cast<int>(std::floor(std::log2(greatest / double{magnitude})));
  // The logarithm may round up to the next whole number.
  return double{magnitude} * PowerOfTwo(power) > greatest ? power - 1 : power;
}

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
      // The greatest values of all may have been rounded up to 2^128.
      out[i] = static_cast<float>(std::clamp(F::ToFloat(code) * scale, -kGreatest, kGreatest));
      all = all && (code & 0x7fu) <= F::kGreatest;
    }
    if (!all) finite = false;
  });
  return finite;
}

uint16_t HalfOf(float value) { return FloatToHalfBits(std::clamp(value, -65504.0f, 65504.0f)); }

uint16_t BFloatOf(float value) {
  constexpr float kMost = 0x1.fep127f;
  return FloatToBFloatBits(std::clamp(value, -kMost, kMost));
}

template <uint16_t (*kCast)(float)>
void Encode16(std::span<const float> in, std::byte* out) {
  ForEachBlock(static_cast<int64_t>(in.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint16_t bits = kCast(in[i]);
      std::memcpy(out + sizeof(bits) * i, &bits, sizeof(bits));
    }
  });
}

float FromHalf(uint16_t bits) { return HalfBitsToFloat(bits); }
float FromBFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

template <float (*kCast)(uint16_t)>
bool Decode16(const std::byte* in, std::span<float> out) {
  std::atomic<bool> finite = true;
  ForEachBlock(static_cast<int64_t>(out.size()), [&](int64_t begin, int64_t end) {
    bool all = true;
    for (int64_t i = begin; i < end; ++i) {
      uint16_t bits;
      std::memcpy(&bits, in + sizeof(bits) * i, sizeof(bits));
      out[i] = kCast(bits);
      all = all && out[i] - out[i] == 0;
    }
    if (!all) finite = false;
  });
  return finite;
}

}  // namespace

std::string SmallFloats::name() const {
  constexpr const char* kNames[] = {"f16", "bf16", "f8:e4m3", "f8:e5m2"};
  return kNames[static_cast<int>(format_)];
}

size_t SmallFloats::MaxEncodedBytes(int64_t count) const {
  const size_t values = static_cast<size_t>(count);
  return is_f8() ? kScaleBytes + values : 2 * values;
}

size_t SmallFloats::Encode(std::span<const float> in, std::span<std::byte> out) {
  const size_t bytes = MaxEncodedBytes(static_cast<int64_t>(in.size()));
  Require(out.size() >= bytes, name(), "{} values need {} bytes, got room for {}", in.size(), bytes,
          out.size());
  const ValueRange range = RangeOf(in);
  if (!range.finite) return 0;
  if (format_ == SmallFloat::kF16) Encode16<HalfOf>(in, out.data());
  if (format_ == SmallFloat::kBF16) Encode16<BFloatOf>(in, out.data());
  if (!is_f8()) return bytes;
  const bool e4m3 = format_ == SmallFloat::kE4M3;
  const int32_t power =
      e4m3 ? ScaleFor<E4M3>(range.magnitude()) : ScaleFor<E5M2>(range.magnitude());
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
    Require(power >= kLeastScale && power <= kMostScale, name(),
            "takes a scale of 2^{} to 2^{}, "
            "got 2^{}",
            kLeastScale, kMostScale, power);
    const auto decode = format_ == SmallFloat::kE4M3 ? Decode8<E4M3> : Decode8<E5M2>;
    finite = decode(in.data() + kScaleBytes, power, out);
  } else {
    const auto decode = format_ == SmallFloat::kF16 ? Decode16<FromHalf> : Decode16<FromBFloat>;
    finite = decode(in.data(), out);
  }
  Require(finite, name(), "needs finite numbers, got an infinite one or NaN");
}

}  // namespace torus::parallel
