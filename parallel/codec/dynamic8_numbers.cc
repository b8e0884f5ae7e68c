#include "parallel/codec/dynamic8_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

constexpr int kDecades = 7;

std::array<float, 256> MakeNumbers() {
  std::array<float, 256> numbers{};
  size_t count = 0;
  numbers[count++] = 0;
  numbers[count++] = 1;
  for (int e = 0; e < kDecades; ++e)
    for (int part = 0; part < 1 << e; ++part) {
      const double middle = 0.1 + 0.9 * (part + 0.5) / (1 << e);
      const float number = static_cast<float>(middle * std::pow(10.0, e - (kDecades - 1)));
      numbers[count++] = number;
      numbers[count++] = -number;
    }
  TORUS_CHECK(count == numbers.size(), "{} numbers", count);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

std::span<const float> Dynamic8Numbers() {
  static const std::array<float, 256> numbers = MakeNumbers();
  return numbers;
}

const NearestNumber& NearestDynamic8() {
  static const NearestNumber* nearest = new NearestNumber(Dynamic8Numbers());
  return *nearest;
}

}  // namespace torus::parallel
