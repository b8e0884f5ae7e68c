// Casts of consecutive elements between any two dtypes on a CPU, in vector code. Cast like C++;
// 16-bit floats are cast via float.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/copy_bytes.h"
#include "runtime/dtype.h"

namespace torus::cpu {

// One element.
template <class To, class From>
To CastElement(From value) {
  constexpr bool half_from = std::is_same_v<From, BFloat16> || std::is_same_v<From, Float16>;
  constexpr bool half_to = std::is_same_v<To, BFloat16> || std::is_same_v<To, Float16>;
  if constexpr (std::is_same_v<From, To>)
    return value;
  else if constexpr (half_from)
    return CastElement<To>(static_cast<float>(value));
  else if constexpr (half_to)
    return To(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

void CastElements(const Float16* from, int64_t count, float* to);
void CastElements(const float* from, int64_t count, Float16* to);

// `from` and `to` may be the same address only if the types are equal.
template <class From, class To>
void CastElements(const From* from, int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    CopyElements(from, count, to);
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<To, Float16>) {
    constexpr int64_t kBlock = 256;
    float block[kBlock];
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t size = std::min(kBlock, count - i);
      CastElements(from + i, size, block);
      CastElements(block, size, to + i);
    }
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = CastElement<To>(from[i]);
  }
}

}  // namespace torus::cpu
