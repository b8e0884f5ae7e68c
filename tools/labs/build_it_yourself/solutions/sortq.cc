// Lab "sortq", solved. Layout of the bytes: the least value and step of each bucket, then the
// codes, with the least significant bit first.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "lab_sortq.h"

namespace lab {
namespace {

struct Bucket {
  float least = 0, step = 0;
};

struct Form {
  explicit Form(int bits) : bits(bits), q(bits - bits / 4), buckets(size_t{1} << (bits / 4)) {}
  size_t Begin(size_t count, size_t bucket) const { return count * bucket / buckets; }
  size_t HeaderBytes() const { return buckets * sizeof(Bucket); }
  uint32_t LastPoint() const { return (uint32_t{1} << q) - 1; }
  int bits, q;
  size_t buckets;
};

void PutBits(std::span<uint8_t> bytes, size_t at, uint32_t code, int bits) {
  for (int b = 0; b < bits; ++b, ++at)
    bytes[at / 8] |= static_cast<uint8_t>(((code >> b) & 1U) << (at % 8));
}

uint32_t GetBits(std::span<const uint8_t> bytes, size_t at, int bits) {
  uint32_t code = 0;
  for (int b = 0; b < bits; ++b, ++at) code |= ((bytes[at / 8] >> (at % 8)) & 1U) << b;
  return code;
}

uint32_t PointOf(const Form& form, Bucket bucket, float value) {
  if (!(bucket.step > 0)) return 0;
  const double point = std::round((static_cast<double>(value) - bucket.least) / bucket.step);
  return std::min(static_cast<uint32_t>(point), form.LastPoint());
}

std::vector<uint32_t> Sorted(std::span<const float> values) {
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return values[i]; });
  return order;
}

}  // namespace

std::vector<uint8_t> Encode(std::span<const float> values, int bits) {
  if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) return {};
  const Form form(bits);
  const size_t n = values.size(), header = form.HeaderBytes();
  std::vector<uint8_t> bytes(header + (n * static_cast<size_t>(bits) + 7) / 8);
  const std::span<uint8_t> codes(bytes.begin() + static_cast<ptrdiff_t>(header), bytes.end());
  const std::vector<uint32_t> order = Sorted(values);
  for (size_t k = 0; k < form.buckets; ++k) {
    const size_t begin = form.Begin(n, k), end = form.Begin(n, k + 1);
    Bucket bucket;
    if (begin < end) {
      bucket.least = values[order[begin]];
      const double range = static_cast<double>(values[order[end - 1]]) - bucket.least;
      bucket.step = static_cast<float>(range / form.LastPoint());
    }
    std::memcpy(&bytes[k * sizeof(Bucket)], &bucket, sizeof(Bucket));
    for (size_t rank = begin; rank < end; ++rank) {
      const uint32_t point = PointOf(form, bucket, values[order[rank]]);
      PutBits(codes, order[rank] * static_cast<size_t>(bits),
              static_cast<uint32_t>(k << form.q) | point, bits);
    }
  }
  return bytes;
}

void Decode(std::span<const uint8_t> bytes, int bits, std::span<float> values) {
  const Form form(bits);
  std::vector<Bucket> buckets(form.buckets);
  std::memcpy(buckets.data(), bytes.data(), form.HeaderBytes());
  const std::span<const uint8_t> codes = bytes.subspan(form.HeaderBytes());
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t code = GetBits(codes, i * static_cast<size_t>(bits), bits);
    const Bucket bucket = buckets[code >> form.q];
    values[i] = static_cast<float>(bucket.least +
                                   static_cast<double>(bucket.step) * (code & form.LastPoint()));
  }
}

}  // namespace lab
