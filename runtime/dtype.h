// Element types, and storage for the two 16-bit floating-point types.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "runtime/error.h"

namespace torus {

// Types of elements. Truth values have a byte.
enum class DType : uint8_t { kF64, kF32, kBF16, kF16, kI64, kI32, kU8, kBool };

// bfloat16: the upper half of a float32, rounded to nearest even; NaN stays NaN.
struct BFloat16 {
  uint16_t bits = 0;  // as in memory
  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t u = std::bit_cast<uint32_t>(value);
    const bool nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  // Exact.
  explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};

// IEEE 754 binary16, rounded to nearest even; overflow gives infinity.
struct Float16 {
  uint16_t bits = 0;  // as in memory
  Float16() = default;
  explicit Float16(float value) : bits(FromFloat(value)) {}
  explicit operator float() const { return ToFloat(bits); }  // exact

 private:
  static uint16_t FromFloat(float value);
  static float ToFloat(uint16_t bits);
};

// Bytes of one element.
size_t SizeOf(DType dtype);

// "f32", "bf16", ...
std::string_view Name(DType dtype);

inline bool IsFloating(DType dtype) { return dtype <= DType::kF16; }  // f64, f32, bf16 or f16

// Whether the dtype is a 16-bit float. Arithmetic on these is done in f32.
inline bool IsLow(DType dtype) { return dtype == DType::kBF16 || dtype == DType::kF16; }

// The dtype of a C++ type.
template <class T>
inline constexpr DType kDTypeOf = [] {
  if constexpr (std::is_same_v<T, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::kBF16;
  else if constexpr (std::is_same_v<T, Float16>)
    return DType::kF16;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kI64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kI32;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kU8;
  else {
    static_assert(std::is_same_v<T, bool>, "not an element type");
    return DType::kBool;
  }
}();

// Calls f with a value of the C++ type of `dtype`: VisitDType(d, [&](auto zero) { using T =
// decltype(zero); ... }).
template <class F>
decltype(auto) VisitDType(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kF64:
      return f(double{});
    case DType::kF32:
      return f(float{});
    case DType::kBF16:
      return f(BFloat16{});
    case DType::kF16:
      return f(Float16{});
    case DType::kI64:
      return f(int64_t{});
    case DType::kI32:
      return f(int32_t{});
    case DType::kU8:
      return f(uint8_t{});
    case DType::kBool:
      return f(bool{});
  }
  TORUS_CHECK(false, "dtype {}", static_cast<int>(dtype));
  std::abort();
}

// Tag for a type that ops compute with: T is the type in memory, Sum the type in which sums are
// accumulated.
template <class T>
struct ComputeType {
  using Sum = T;
};
// Of bf16, with f32 as Sum.
template <>
struct ComputeType<BFloat16> {
  using Sum = float;
};
// Of f16, with f32 as Sum.
template <>
struct ComputeType<Float16> {
  using Sum = float;
};
// The type in which sums of Ts are accumulated.
template <class T>
using SumOf = typename ComputeType<T>::Sum;

// Calls f for the compute type of `dtype`: VisitCompute("op", d, [&]<class T>(ComputeType<T>) { ...
// }). Ops compute in f32 and f64; throws BadInput tagged `op` for another dtype.
template <class F>
decltype(auto) VisitCompute(std::string_view op, DType dtype, F&& f) {
  Require(dtype == DType::kF32 || dtype == DType::kF64, op, "needs f32 or f64, got {}",
          Name(dtype));
  return dtype == DType::kF32 ? f(ComputeType<float>{}) : f(ComputeType<double>{});
}

}  // namespace torus
