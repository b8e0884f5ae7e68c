#include "recipes/settings/precision.h"

#include "runtime/error.h"
#include "runtime/vector_unit.h"

namespace torus::recipes {

Precision CheckedPrecision(std::string_view where, const std::string& precision, bool emulate,
                           Device device) {
  Require(!emulate || precision == "bf16", where, "--emulate needs --precision bf16, got {}",
          precision);
  if (precision == "f32") return DType::kF32;
  Require(precision != "f16" && precision != "tf32", where,
          "--precision {} is not there yet; there are f32 and bf16", precision);
  Require(precision == "bf16", where, "--precision must be one of f32, bf16, f16, tf32, got {}",
          precision);
  if (emulate) return DType::kBF16;
  Require(device.kind == DeviceKind::kCpu, where,
          "--precision bf16: products in bf16 on GPUs are not there yet; --emulate rounds to bf16 "
          "and computes in f32");
  Require(HasBf16Products(), where,
          "--precision bf16: it needs a processor with AVX512_BF16 or AMX_BF16, and this one has "
          "neither; --emulate rounds to bf16 and computes in f32, which shows what bf16 does to a "
          "training and is not faster");
  return {DType::kBF16, Products::kNative};
}

}  // namespace torus::recipes
