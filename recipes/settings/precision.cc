#include "recipes/settings/precision.h"

#include "runtime/error.h"
#include "runtime/vector_unit.h"

namespace torus::recipes {
namespace {

// What bf16 needs and this processor lacks; else what this program does not do.
std::string_view WhyNoBf16() {
  return HasBf16Products()
             ? "this program does not use the processor's bf16 products yet"
             : "it needs a processor with AVX512_BF16 or AMX_BF16, and this one has neither";
}

}  // namespace

DType CheckedPrecision(std::string_view where, const std::string& precision, bool emulate) {
  Require(!emulate || precision == "bf16", where, "--emulate needs --precision bf16, got {}",
          precision);
  if (precision == "f32") return DType::kF32;
  Require(precision != "f16" && precision != "tf32", where,
          "--precision {} is computed on GPUs alone; on a CPU there are f32 and bf16", precision);
  Require(precision == "bf16", where, "--precision must be one of f32, bf16, f16, tf32, got {}",
          precision);
  Require(emulate, where,
          "--precision bf16: {}; --emulate rounds to bf16 and computes in f32, which shows what "
          "bf16 does to a training and is not faster",
          WhyNoBf16());
  return DType::kBF16;
}

}  // namespace torus::recipes
