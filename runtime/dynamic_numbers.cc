#include "runtime/dynamic_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/error.h"

namespace torus {
namespace {

constexpr int kDecades = 7;

std::array<float, 256> MakeNumbers(bool with_sign) {
  std::array<float, 256> numbers{};
  size_t count = 0;
  numbers[count++] = 0;
  numbers[count++] = 1;
  for (int e = 0; e < kDecades; ++e) {
    const int parts = with_sign ? 1 << e : 2 << e;
    for (int part = 0; part < parts; ++part) {
      const double middle = 0.1 + 0.9 * (part + 0.5) / parts;
      const float number = static_cast<float>(middle * std::pow(10.0, e - (kDecades - 1)));
      numbers[count++] = number;
      if (with_sign) numbers[count++] = -number;
    }
  }
  TORUS_CHECK(count == numbers.size(), "{} numbers", count);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

std::span<const float, 256> DynamicNumbers(bool with_sign) {
  static const std::array<float, 256> with = MakeNumbers(true), without = MakeNumbers(false);
  return with_sign ? with : without;
}

}  // namespace torus
