#include "ops/elementwise/power.h"

#include "autograd/node.h"
#include "ops/elementwise/apply_map.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/math_functors.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

// g b a^(b - 1), and 0 where b = 0: there the power is 1 for every a.
Tensor BaseGradient(const Tensor& a, const Tensor& b, const Tensor& g) {
  const Tensor less = ApplyBinary("pow", BinaryOp::kSub, b, 1);
  const Tensor slope =
      ApplyBinary("pow", BinaryOp::kMul, b, ApplyBinary("pow", BinaryOp::kPow, a, less));
  const Tensor constant = ApplyCompare("pow", CompareOp::kEqual, b, 0);
  return ApplySelect("pow", constant, Number(0, g), ApplyBinary("pow", BinaryOp::kMul, g, slope));
}

// Uses square roots for the numbers 0.5 and -0.5, as PyTorch does: unlike powers, they are NaN at
// -infinity and keep the sign of -0.
Tensor PowerOf(const Tensor& a, double b) {
  if (b == 0.5) return ApplyMap("pow", SqrtFunctor{}, a);
  if (b == -0.5) return ApplyMap("pow", RsqrtFunctor{}, a);
  return ApplyBinary("pow", BinaryOp::kPow, a, b);
}

// g a^b log(a), and 0 where a = 0 and b >= 0: there the power is constant.
Tensor ExponentGradient(const Tensor& a, const Tensor& b, const Tensor& power, const Tensor& g) {
  const Tensor slope = ApplyBinary("pow", BinaryOp::kMul, power, ApplyMap("pow", LogFunctor{}, a));
  const Tensor moved = ApplyBinary("pow", BinaryOp::kMul, g, slope);
  const Tensor zero = ApplyCompare("pow", CompareOp::kEqual, a, 0);
  const Tensor up = ApplyCompare("pow", CompareOp::kLessEqual, Number(0, b), b);
  return ApplySelect("pow", zero, ApplySelect("pow", up, Number(0, g), moved), moved);
}

}  // namespace

Variable Pow(const Variable& input, const Variable& exponent) {
  return InPrecision(
      "pow",
      [&](const Variable& input, const Variable& exponent) {
        const Tensor out = ApplyBinary("pow", BinaryOp::kPow, input.data(), exponent.data());
        return Record(
            "pow", out, {input, exponent},
            [a = Saved(input), b = Saved(exponent),
             power = Saved(exponent.requires_grad() ? out : Tensor())](const GradContext& g) {
              const auto base = [&] {
                return SumTo(BaseGradient(a.get(), b.get(), g.grad()), a.get().shape());
              };
              const auto top = [&] {
                return SumTo(ExponentGradient(a.get(), b.get(), power.get(), g.grad()),
                             b.get().shape());
              };
              return Gradients{g.wants(0) ? base() : Tensor(), g.wants(1) ? top() : Tensor()};
            });
      },
      input, exponent);
}

Variable Pow(const Variable& input, double exponent) {
  return InPrecision(
      "pow",
      [&](const Variable& input) {
        return Record(
            "pow", PowerOf(input.data(), exponent), {input},
            [a = Saved(input), exponent](const GradContext& g) {
              // A power of 0 is 1 everywhere, also where 0 a^-1 would be NaN.
              if (exponent == 0)
                return Gradients{Zeros(a.get().shape(), g.grad().dtype(), g.grad().device())};
              const Tensor slope =
                  ApplyBinary("pow", BinaryOp::kMul, PowerOf(a.get(), exponent - 1), exponent);
              return Gradients{ApplyBinary("pow", BinaryOp::kMul, g.grad(), slope)};
            });
      },
      input);
}

Variable Pow(double input, const Variable& exponent) {
  return InPrecision(
      "pow",
      [&](const Variable& exponent) {
        return Pow(Variable(Number(input, exponent.data())), exponent);
      },
      exponent);
}

}  // namespace torus::ops
