#include "parallel/codec/nearest_dynamic8.h"

#include "runtime/dynamic_numbers.h"

namespace torus::parallel {

const NearestNumber& NearestDynamic8() {
  static const NearestNumber* nearest = new NearestNumber(DynamicNumbers(true));
  return *nearest;
}

}  // namespace torus::parallel
