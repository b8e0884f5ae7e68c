#include "parallel/codec/small_float_kernel.h"

#include <cstring>

#include "parallel/codec/small_float_bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "parallel/codec/small_float_kernel.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace torus::parallel::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Encode returns the numbers that stand for values, Decode the values; it also returns in `bad`
// lanes other than 0 where the number is not finite.

struct HalfLanes {
  using Number = uint16_t;
  template <class D, class V>
  HWY_INLINE auto Encode(D d, V x) const {
    const hn::Rebind<hwy::float16_t, D> half;
    const auto most = hn::Set(d, 65504.0f);
    return hn::BitCast(hn::Rebind<uint16_t, D>(),
                       hn::DemoteTo(half, hn::Clamp(x, hn::Neg(most), most)));
  }
  template <class D, class V, class B>
  HWY_INLINE auto Decode(D d, V number, B& bad) const {
    const auto x = hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), number));
    bad = hn::BitCast(hn::RebindToUnsigned<D>(), hn::Sub(x, x));
    return x;
  }
};

struct BFloatLanes {
  using Number = uint16_t;
  template <class D, class V>
  HWY_INLINE auto Encode(D d, V x) const {
    const hn::RebindToUnsigned<D> du;
    const auto most = hn::Set(d, 0x1.fep127f);
    const auto bits = hn::BitCast(du, hn::Clamp(x, hn::Neg(most), most));
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(du, 0x7fff)), odd);
    return hn::DemoteTo(hn::Rebind<uint16_t, D>(),
                        hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftRight<16>(rounded)));
  }
  template <class D, class V, class B>
  HWY_INLINE auto Decode(D d, V number, B& bad) const {
    const hn::RebindToUnsigned<D> du;
    const auto x = hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, number)));
    bad = hn::BitCast(du, hn::Sub(x, x));
    return x;
  }
};

// Multiplies by a power of two in two steps, since one factor could exceed float32. Only the second
// step can round: the first leaves a number normal, or so small that it stands for 0.
struct Scale {
  explicit Scale(int power)
      : first(static_cast<float>(PowerOfTwo(power / 2))),
        second(static_cast<float>(PowerOfTwo(power - power / 2))) {}
  template <class D, class V>
  HWY_INLINE V Times(D d, V x) const {
    return hn::Mul(hn::Mul(x, hn::Set(d, first)), hn::Set(d, second));
  }

  float first, second;
};

// Float8::FromFloat and ToFloat.
template <class F>
struct Float8Lanes {
  using Number = uint8_t;
  explicit Float8Lanes(int power) : up(power), down(-power) {}

  template <class D, class V>
  HWY_INLINE auto Encode(D d, V x) const {
    const hn::RebindToUnsigned<D> du;
    const auto bits = hn::BitCast(du, up.Times(d, x));
    const auto rest = hn::And(bits, hn::Set(du, 0x7fffffffu));
    const auto odd = hn::And(hn::ShiftRight<F::kDropped>(rest), hn::Set(du, 1));
    constexpr uint32_t kHalf = (1u << (F::kDropped - 1)) - 1;
    const auto rebased = hn::Add(rest, hn::Set(du, kHalf - F::kRebias));
    const auto normal = hn::ShiftRight<F::kDropped>(hn::Add(rebased, odd));
    const auto beside = hn::Set(du, F::kBeside);
    const auto shifted = hn::Add(hn::BitCast(d, rest), hn::BitCast(d, beside));
    const auto denormal = hn::Sub(hn::BitCast(du, shifted), beside);
    const auto is_normal = hn::Lt(hn::Set(du, F::kLeastNormal - 1), rest);
    const auto sign = hn::And(hn::ShiftRight<24>(bits), hn::Set(du, 0x80));
    const auto number = hn::Or(sign, hn::IfThenElse(is_normal, normal, denormal));
    return hn::DemoteTo(hn::Rebind<uint8_t, D>(), hn::BitCast(hn::RebindToSigned<D>(), number));
  }
  template <class D, class V, class B>
  HWY_INLINE auto Decode(D d, V number, B& bad) const {
    const hn::RebindToUnsigned<D> du;
    const auto code = hn::PromoteTo(du, number);
    const auto rest = hn::And(code, hn::Set(du, 0x7f));
    bad = hn::VecFromMask(du, hn::Lt(hn::Set(du, F::kGreatest), rest));
    const auto magnitude =
        hn::Mul(hn::BitCast(d, hn::ShiftLeft<F::kDropped>(rest)), hn::Set(d, F::kToFloat));
    const auto scaled = hn::Min(down.Times(d, magnitude), hn::Set(d, 0x1.fffffep127f));
    const auto sign = hn::And(hn::ShiftLeft<24>(code), hn::Set(du, 0x80000000u));
    return hn::BitCast(d, hn::Or(hn::BitCast(du, scaled), sign));
  }

  Scale up, down;
};

template <class Lanes>
bool EncodeLanes(const Lanes& lanes, const float* in, int64_t count, std::byte* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<typename Lanes::Number, decltype(d)> dn;
  const hn::Repartition<uint8_t, decltype(dn)> bytes;
  const hn::RebindToUnsigned<decltype(d)> du;
  constexpr int64_t kBytes = sizeof(typename Lanes::Number);
  const auto width = static_cast<int64_t>(hn::Lanes(d));
  auto bad = hn::Zero(du);
  const auto step = [&](const float* from, void* to) HWY_ATTR {
    const auto x = hn::LoadU(d, from);
    bad = hn::Or(bad, hn::BitCast(du, hn::Sub(x, x)));
    hn::StoreU(hn::BitCast(bytes, lanes.Encode(d, x)), bytes, static_cast<uint8_t*>(to));
  };
  int64_t i = 0;
  for (; i + width <= count; i += width) step(in + i, out + i * kBytes);
  if (i < count) {
    float last[HWY_MAX_BYTES / sizeof(float)] = {};
    std::byte encoded[HWY_MAX_BYTES];
    std::memcpy(last, in + i, (count - i) * sizeof(float));
    step(last, encoded);
    std::memcpy(out + i * kBytes, encoded, (count - i) * kBytes);
  }
  return hn::AllTrue(du, hn::Eq(bad, hn::Zero(du)));
}

template <class Lanes>
bool DecodeLanes(const Lanes& lanes, const std::byte* in, int64_t count, float* out) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<typename Lanes::Number, decltype(d)> dn;
  const hn::Repartition<uint8_t, decltype(dn)> bytes;
  const hn::RebindToUnsigned<decltype(d)> du;
  constexpr int64_t kBytes = sizeof(typename Lanes::Number);
  const auto width = static_cast<int64_t>(hn::Lanes(d));
  auto bad = hn::Zero(du), one = bad;
  const auto step = [&](const void* from, float* to) HWY_ATTR {
    const auto number = hn::BitCast(dn, hn::LoadU(bytes, static_cast<const uint8_t*>(from)));
    hn::StoreU(lanes.Decode(d, number, one), d, to);
    bad = hn::Or(bad, one);
  };
  int64_t i = 0;
  for (; i + width <= count; i += width) step(in + i * kBytes, out + i);
  if (i < count) {
    std::byte encoded[HWY_MAX_BYTES] = {};
    float last[HWY_MAX_BYTES / sizeof(float)];
    std::memcpy(encoded, in + i * kBytes, (count - i) * kBytes);
    step(encoded, last);
    std::memcpy(out + i, last, (count - i) * sizeof(float));
  }
  return hn::AllTrue(du, hn::Eq(bad, hn::Zero(du)));
}

// f(lanes) of the format.
template <class F>
bool Visit(SmallFloat format, int power, const F& f) {
  switch (format) {
    case SmallFloat::kF16:
      return f(HalfLanes());
    case SmallFloat::kBF16:
      return f(BFloatLanes());
    case SmallFloat::kE4M3:
      return f(Float8Lanes<E4M3>(power));
    case SmallFloat::kE5M2:
      return f(Float8Lanes<E5M2>(power));
  }
  return false;
}

bool Encode(SmallFloat format, int power, const float* in, int64_t count, std::byte* out) {
  return Visit(format, power,
               [=](const auto& lanes) { return EncodeLanes(lanes, in, count, out); });
}

bool Decode(SmallFloat format, int power, const std::byte* in, int64_t count, float* out) {
  return Visit(format, power,
               [=](const auto& lanes) { return DecodeLanes(lanes, in, count, out); });
}

}  // namespace torus::parallel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace torus::parallel {

HWY_EXPORT(Encode);
HWY_EXPORT(Decode);

bool EncodeSmallFloats(SmallFloat format, int power, const float* in, int64_t count,
                       std::byte* out) {
  return HWY_DYNAMIC_DISPATCH(Encode)(format, power, in, count, out);
}

bool DecodeSmallFloats(SmallFloat format, int power, const std::byte* in, int64_t count,
                       float* out) {
  return HWY_DYNAMIC_DISPATCH(Decode)(format, power, in, count, out);
}

}  // namespace torus::parallel
#endif  // HWY_ONCE
