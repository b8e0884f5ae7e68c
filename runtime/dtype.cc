#include "runtime/dtype.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "runtime/half_bits.h"

namespace torus {

#ifdef __F16C__
uint16_t Float16::FromFloat(float value) {
  return static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
}

float Float16::ToFloat(uint16_t bits) { return _cvtsh_ss(bits); }
#else
uint16_t Float16::FromFloat(float value) { return FloatToHalfBits(value); }

float Float16::ToFloat(uint16_t bits) { return HalfBitsToFloat(bits); }
#endif

size_t SizeOf(DType dtype) {
  return VisitDType(dtype, [](auto zero) { return sizeof(zero); });
}

std::string_view Name(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "f64";
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
    case DType::kI64:
      return "i64";
    case DType::kI32:
      return "i32";
    case DType::kU8:
      return "u8";
    case DType::kBool:
      return "bool";
  }
  return "invalid";
}

}  // namespace torus
