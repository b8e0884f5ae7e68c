#include "runtime/non_finite.h"

namespace torus {
namespace {

// Infinities and NaNs have all bits of the exponent set.
template <class Bits>
int64_t CountWithAll(Bits exponent, const Tensor& packed) {
  const auto* bits = static_cast<const Bits*>(packed.raw());
  const int64_t n = packed.numel();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += (bits[i] & exponent) == exponent;
  return count;
}

}  // namespace

int64_t CountNonFinite(const Tensor& tensor) {
  Require(tensor.device().kind == DeviceKind::kCpu, "count_non_finite",
          "needs a tensor on the CPU, got {}", tensor);
  const Tensor packed = tensor.Contiguous();
  switch (packed.dtype()) {
    case DType::kF64:
      return CountWithAll<uint64_t>(0x7ff0000000000000u, packed);
    case DType::kF32:
      return CountWithAll<uint32_t>(0x7f800000u, packed);
    case DType::kBF16:
      return CountWithAll<uint16_t>(0x7f80u, packed);
    case DType::kF16:
      return CountWithAll<uint16_t>(0x7c00u, packed);
    default:
      return 0;
  }
}

}  // namespace torus
