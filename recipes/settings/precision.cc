#include "recipes/settings/precision.h"

#include "runtime/error.h"
#include "runtime/vector_unit.h"

namespace torus::recipes {
namespace {

bool IsLow(const std::string& precision) { return precision == "bf16" || precision == "f16"; }

// What the CPU lacks for the products of a precision, and what to do instead.
void CheckCpu(std::string_view where, const std::string& precision) {
  Require(precision != "tf32", where,
          "--precision tf32: products in TF32 need a GPU (--device cuda); CPUs have f32 and bf16");
  Require(
      precision != "f16", where,
      "--precision f16: products in f16 need a GPU (--device cuda); CPUs have f32 and bf16, and "
      "--emulate rounds to f16 and computes in f32");
  Require(HasBf16Products(), where,
          "--precision bf16: it needs a processor with AVX512_BF16 or AMX_BF16, and this one has "
          "neither; --emulate rounds to bf16 and computes in f32, which shows what bf16 does to a "
          "training and is not faster");
}

}  // namespace

Precision PrecisionNamed(const std::string& precision, bool emulate) {
  if (precision == "tf32") return {DType::kF32, MatmulMode::kTf32};
  if (!IsLow(precision)) return DType::kF32;
  return {precision == "bf16" ? DType::kBF16 : DType::kF16,
          emulate ? MatmulMode::kEmulated : MatmulMode::kNative};
}

Precision CheckedPrecision(std::string_view where, const std::string& precision, bool emulate,
                           Device device) {
  Require(precision == "f32" || precision == "tf32" || IsLow(precision), where,
          "--precision must be one of f32, bf16, f16, tf32, got {}", precision);
  Require(!emulate || IsLow(precision), where, "--emulate needs --precision bf16 or f16, got {}",
          precision);
  if (device.kind == DeviceKind::kCpu && precision != "f32" && !emulate) CheckCpu(where, precision);
  return PrecisionNamed(precision, emulate);
}

}  // namespace torus::recipes
