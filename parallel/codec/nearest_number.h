// The nearest of up to 256 ascending numbers, found by a table over the upper bits of a float32.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace torus::parallel {

class NearestNumber {
 public:
  // At least one number, finite, in ascending order.
  explicit NearestNumber(std::span<const float> numbers);

  // The place of the number nearest to `value`, which is finite; of two equally near the lower.
  uint8_t operator()(float value) const {
    int place = first_[KeyOf(value) >> kShift];
    while (value > middles_[place]) ++place;
    return static_cast<uint8_t>(place);
  }

  // Between neighbours, rounded down; then infinity: the place is how many of them lie below.
  std::span<const float> middles() const { return middles_; }

 private:
  static constexpr int kShift = 19;  // 8192 entries: sign, exponent and four bits

  // Ascends with the value; -0 lies below 0.
  static uint32_t KeyOf(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
  }

  std::vector<float> middles_;
  std::vector<uint8_t> first_;  // of each table entry: the place of its least value
};

}  // namespace torus::parallel
