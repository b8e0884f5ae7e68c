#include "autograd/precision.h"

#include "runtime/error.h"

namespace torus {
namespace {

thread_local Precision current;

}  // namespace

WithPrecision::WithPrecision(Precision precision) : before_(current) {
  Require(precision.low == DType::kF32 || IsLow(precision.low), "precision",
          "must be f32, bf16 or f16, got {}", Name(precision.low));
  Require(precision.low == DType::kF32 || precision.matmul_mode != MatmulMode::kTf32, "precision",
          "TF32 is a way to multiply f32, got {}", Name(precision.low));
  current = precision;
}

WithPrecision::~WithPrecision() { current = before_; }

Precision WithPrecision::Whole() { return current; }

DType WithPrecision::Current() { return current.low; }

bool WithPrecision::Native() {
  return current.low != DType::kF32 && current.matmul_mode == MatmulMode::kNative;
}

bool WithPrecision::Tf32() { return current.matmul_mode == MatmulMode::kTf32; }

}  // namespace torus
