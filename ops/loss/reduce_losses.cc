#include "ops/loss/reduce_losses.h"

#include "ops/elementwise/binary.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

Tensor Over(std::string_view op, const Tensor& t, const Tensor& divisor) {
  return divisor.defined() ? ApplyBinary(op, BinaryOp::kDiv, t, divisor) : t;
}

}  // namespace

Tensor ReduceLosses(std::string_view op, const Tensor& losses, const Tensor& divisor) {
  return Over(op, SumOver(op, losses.Reshape({losses.numel()}), {0}, false), divisor);
}

Tensor GradientOfLosses(std::string_view op, const Tensor& dtotal, const Tensor& divisor,
                        const Shape& losses) {
  return Over(op, dtotal, divisor).Expand(losses).Contiguous();
}

}  // namespace torus::ops
