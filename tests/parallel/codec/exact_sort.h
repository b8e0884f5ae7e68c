// The plain twin of sort quantization: a stable sort, and the wire format read byte by byte.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "parallel/codec/sort_quantization.h"

namespace torus::parallel {

// Indices of `values` in stable ascending order.
inline std::vector<uint32_t> StableOrder(std::span<const float> values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return values[a] < values[b]; });
  return order;
}

// What the header and the codes say, read without the codec.
struct Wire {
  uint64_t count;
  std::vector<float> minimum, step;
  std::vector<uint32_t> bucket, point;  // of each value
};

inline Wire ReadWire(std::span<const std::byte> bytes, const SortQuantization& codec) {
  Wire wire;
  std::memcpy(&wire.count, bytes.data(), 8);
  for (int k = 0; k < codec.buckets(); ++k) {
    float pair[2];
    std::memcpy(pair, bytes.data() + 8 + 8 * k, 8);
    wire.minimum.push_back(pair[0]);
    wire.step.push_back(pair[1]);
  }
  const std::span<const std::byte> stream = bytes.subspan(8 + 8 * codec.buckets());
  const auto byte = [&](size_t i) {
    return i < stream.size() ? std::to_integer<uint32_t>(stream[i]) : 0u;
  };
  for (uint64_t i = 0; i < wire.count; ++i) {
    const size_t at = i * codec.bits();  // in bits
    const uint32_t window = byte(at / 8) | byte(at / 8 + 1) << 8 | byte(at / 8 + 2) << 16;
    const uint32_t code = (window >> (at % 8)) & ((1u << codec.bits()) - 1);
    wire.bucket.push_back(code >> codec.step_bits());
    wire.point.push_back(code & ((1u << codec.step_bits()) - 1));
  }
  return wire;
}

inline std::vector<std::byte> Encode(SortQuantization& codec, std::span<const float> values) {
  std::vector<std::byte> bytes(codec.EncodedBytes(static_cast<int64_t>(values.size())));
  const size_t written = codec.Encode(values, bytes);
  bytes.resize(written);
  return bytes;
}

inline std::vector<float> Decode(SortQuantization& codec, std::span<const std::byte> bytes,
                                 size_t count) {
  std::vector<float> values(count);
  codec.Decode(bytes, values);
  return values;
}

// Names of the distributions that Draw knows; each is hard in a way of its own.
inline const std::vector<std::string>& Distributions() {
  static const std::vector<std::string> names{
      "normal",       "relu",       "relu6",        "constant",   "few_values",
      "signed_zeros", "heavy_tail", "ascending",    "descending", "denormal",
      "one_bin",      "huge",       "mixed_scales", "bfloat16",   "bimodal"};
  return names;
}

inline float DrawOne(const std::string& name, size_t i, size_t count, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  const float z = normal(rng);
  const float ramp = static_cast<float>(i) / static_cast<float>(count);
  if (name == "normal") return z;
  if (name == "relu") return std::max(z, 0.0f);
  if (name == "relu6") return std::clamp(4 * z + 2, 0.0f, 6.0f);
  if (name == "constant") return -1.25f;
  if (name == "few_values") return std::round(2 * z) / 4;
  if (name == "signed_zeros") return std::fabs(z) < 0.7f ? std::copysign(0.0f, z) : z;
  if (name == "heavy_tail") return z * z * z * std::exp(3 * normal(rng));
  if (name == "ascending") return ramp - 0.5f;
  if (name == "descending") return 0.5f - ramp;
  if (name == "denormal") return std::round(z * 1000) * std::numeric_limits<float>::denorm_min();
  if (name == "one_bin") return 1.0f + std::ldexp(static_cast<float>(rng() & 0xffff), -23);
  if (name == "bimodal") return i % 2 == 0 ? z : 1000 + z / 16;
  if (name == "huge") return std::clamp(z / 2, -1.0f, 1.0f) * std::numeric_limits<float>::max();
  if (name == "mixed_scales") return std::ldexp(z, static_cast<int>(rng() % 250) - 140);
  // bfloat16: what a tensor of that type becomes when it is cast.
  const uint32_t bits = std::bit_cast<uint32_t>(z) & 0xffff0000u;
  return std::bit_cast<float>(bits);
}

inline std::vector<float> Draw(const std::string& name, size_t count, uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = DrawOne(name, i, count, rng);
  return values;
}

}  // namespace torus::parallel
