// The order of elements as that of whole numbers, shared by the kernels of all devices.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/element_cast.h"
#include "runtime/host_device.h"

namespace torus::ops {

// Ascends with the value; the largest for every NaN, the same for -0 and 0. Read as a whole number,
// an IEEE 754 number ascends where its sign bit is 0, and the others descend.
TORUS_HOST_DEVICE inline int64_t SortKey(double value) {
  if (value != value) return INT64_MAX;
  const int64_t bits = std::bit_cast<int64_t>(value == 0 ? 0.0 : value);
  return bits < 0 ? INT64_MIN - bits : bits;
}

// Of an element of any dtype. Every float is exact as a double. Descending keys are the others'
// complements, so that equal elements keep their order.
template <class T>
TORUS_HOST_DEVICE int64_t SortKeyOf(T element, bool descending) {
  int64_t key;
  if constexpr (std::is_integral_v<T>)
    key = static_cast<int64_t>(element);
  else
    key = SortKey(ElementCast<double, T>()(element));
  return descending ? ~key : key;
}

}  // namespace torus::ops
