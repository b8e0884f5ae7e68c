#include "autograd/precision.h"

#include "runtime/error.h"

namespace torus {
namespace {

thread_local DType current = DType::kF32;

}  // namespace

WithPrecision::WithPrecision(DType low) : before_(current) {
  Require(low == DType::kF32 || low == DType::kBF16, "precision", "must be f32 or bf16, got {}",
          Name(low));
  current = low;
}

WithPrecision::~WithPrecision() { current = before_; }

DType WithPrecision::Current() { return current; }

}  // namespace torus
