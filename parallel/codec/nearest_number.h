// NearestNumber: finds the nearest of up to 256 ascending numbers, with a table indexed by the
// upper bits of a float32.
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

  // The index of the number nearest to `value`, which must be finite; the lower of two equally
  // near.
  uint8_t operator()(float value) const {
    int place = first_[KeyOf(value) >> kShift];
    while (value > middles_[place]) ++place;
    return static_cast<uint8_t>(place);
  }

  // The middles between neighbouring numbers, rounded down, then infinity. The index of a value is
  // the number of middles below it.
  std::span<const float> middles() const { return middles_; }

 private:
  static constexpr int kShift = 19;  // 8192 entries: sign, exponent and four bits

  // Ordered as the value; -0 is below 0.
  static uint32_t KeyOf(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
  }

  std::vector<float> middles_;
  std::vector<uint8_t> first_;  // for each table entry: the index for its least value
};

}  // namespace torus::parallel
