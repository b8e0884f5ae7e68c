#include "parallel/codec/nearest_number.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The greatest float32 that is at most the middle of the two.
float MiddleOf(float below, float above) {
  const double exact = (double{below} + double{above}) / 2;
  const float near = static_cast<float>(exact);
  return double{near} > exact ? std::nextafter(near, -kInfinity) : near;
}

// The inverse of NearestNumber::KeyOf.
float ValueOf(uint32_t key) {
  return std::bit_cast<float>(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu));
}

}  // namespace

NearestNumber::NearestNumber(std::span<const float> numbers) : first_(1u << (32 - kShift)) {
  TORUS_CHECK(!numbers.empty() && numbers.size() <= 256, "{} numbers", numbers.size());
  for (size_t i = 0; i + 1 < numbers.size(); ++i)
    middles_.push_back(MiddleOf(numbers[i], numbers[i + 1]));
  middles_.push_back(kInfinity);
  for (uint32_t entry = 0; entry < first_.size(); ++entry) {
    const float least = ValueOf(entry << kShift);
    // The entries of NaNs are never looked up.
    const auto at = std::ranges::lower_bound(middles_, std::isnan(least) ? 0 : least);
    first_[entry] = static_cast<uint8_t>(at - middles_.begin());
  }
}

}  // namespace torus::parallel
