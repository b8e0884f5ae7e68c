#include "parallel/codec/dynamic8_numbers.h"

#include "runtime/dynamic_numbers.h"

namespace torus::parallel {

std::span<const float> Dynamic8Numbers() { return DynamicNumbers(true); }

const NearestNumber& NearestDynamic8() {
  static const NearestNumber* nearest = new NearestNumber(Dynamic8Numbers());
  return *nearest;
}

}  // namespace torus::parallel
