#include "ops/elementwise/elementwise.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

Variable Constant(std::string_view op, double value, const Variable& like) {
  return Variable(NumberFor(op, value, like.data()));
}

Variable Scaled(const Variable& input, double factor) {
  return factor == 1 ? input : Mul(input, factor);
}

// Does SumTo; 16-bit types are added in f32 and rounded once.
Tensor SumLowTo(const Tensor& grad, const Shape& shape) {
  if (!IsLow(grad.dtype()) || grad.shape() == shape) return SumTo(grad, shape);
  return SumTo(grad.To(DType::kF32), shape).To(grad.dtype());
}

Variable AddOf(const Variable& input, const Variable& other) {
  Tensor out = ApplyBinary("add", BinaryOp::kAdd, input.data(), other.data());
  return Record("add", std::move(out), {input, other},
                [a = input.shape(), b = other.shape()](const GradContext& g) {
                  return Gradients{g.wants(0) ? SumLowTo(g.grad(), a) : Tensor(),
                                   g.wants(1) ? SumLowTo(g.grad(), b) : Tensor()};
                });
}

Variable SubOf(const Variable& input, const Variable& other) {
  Tensor out = ApplyBinary("sub", BinaryOp::kSub, input.data(), other.data());
  return Record("sub", std::move(out), {input, other},
                [a = input.shape(), b = other.shape()](const GradContext& g) {
                  const auto negated = [&] {
                    return ApplyBinary("sub", BinaryOp::kMul, SumLowTo(g.grad(), b), -1);
                  };
                  return Gradients{g.wants(0) ? SumLowTo(g.grad(), a) : Tensor(),
                                   g.wants(1) ? negated() : Tensor()};
                });
}

// Whether a GPU, under a WithPrecision, adds an f32 and a 16-bit tensor to f32 without copying the
// latter.
bool WidensOnGpu(const Variable& a, const Variable& b) {
  if (WithPrecision::Current() == DType::kF32) return false;
  const bool mixed = (IsLow(a.dtype()) && b.dtype() == DType::kF32) ||
                     (a.dtype() == DType::kF32 && IsLow(b.dtype()));
  return mixed && a.data().device().kind == DeviceKind::kCuda;
}

Variable WidenedSum(const Variable& input, const Variable& other) {
  const Tensor &a = input.data(), &b = other.data();
  Tensor out(BroadcastShapes("add", a.shape(), b.shape()), DType::kF32, CommonDevice("add", a, b));
  kernels::Binary("add", BinaryOp::kAdd, a, b, out);
  const auto back = [](const Tensor& grad, const Shape& shape, DType dtype) {
    return SumTo(grad, shape).To(dtype);
  };
  return Record("add", std::move(out), {input, other},
                [back, shape_a = a.shape(), shape_b = b.shape(), dtype_a = a.dtype(),
                 dtype_b = b.dtype()](const GradContext& g) {
                  return Gradients{g.wants(0) ? back(g.grad(), shape_a, dtype_a) : Tensor(),
                                   g.wants(1) ? back(g.grad(), shape_b, dtype_b) : Tensor()};
                });
}

// The product of the gradient and the other factor, summed to `shape`.
Tensor TimesFactor(const Tensor& grad, const Tensor& factor, const Shape& shape) {
  if (!IsLow(grad.dtype()) || grad.shape() == shape)
    return SumTo(ApplyBinary("mul", BinaryOp::kMul, grad, factor), shape);
  const Tensor product =
      ApplyBinary("mul", BinaryOp::kMul, grad.To(DType::kF32), factor.To(DType::kF32));
  return SumTo(product, shape).To(grad.dtype());
}

// Each side is kept only for the other's gradient.
Variable MulOf(const Variable& input, const Variable& other) {
  Tensor out = ApplyBinary("mul", BinaryOp::kMul, input.data(), other.data());
  return Record("mul", std::move(out), {input, other},
                [a = Saved(other.requires_grad() ? input : Variable()),
                 b = Saved(input.requires_grad() ? other : Variable()), shape_a = input.shape(),
                 shape_b = other.shape()](const GradContext& g) {
                  return Gradients{g.wants(0) ? TimesFactor(g.grad(), b.get(), shape_a) : Tensor(),
                                   g.wants(1) ? TimesFactor(g.grad(), a.get(), shape_b) : Tensor()};
                });
}

// Of integers.
Variable TrueQuotient(const Variable& input, const Variable& other) {
  Require(input.dtype() == other.dtype(), "div", "dtypes differ: {} and {}", input, other);
  return Variable(ApplyBinary("div", BinaryOp::kDiv, input.data().To(DType::kF32),
                              other.data().To(DType::kF32)));
}

}  // namespace

Variable Add(const Variable& input, const Variable& other, double alpha) {
  RequireDefined("add", input, other);
  if (alpha != 1) return Add(input, Scaled(other, alpha));
  if (StayLowOnGpu(input, other)) return AddOf(input, other);
  if (WidensOnGpu(input, other)) return WidenedSum(input, other);
  return InPrecision("add", AddOf, input, other);
}

Variable Sub(const Variable& input, const Variable& other, double alpha) {
  RequireDefined("sub", input, other);
  if (alpha != 1) return Sub(input, Scaled(other, alpha));
  if (StayLowOnGpu(input, other)) return SubOf(input, other);
  return InPrecision("sub", SubOf, input, other);
}

Variable Mul(const Variable& input, const Variable& other) {
  RequireDefined("mul", input, other);
  if (StayLowOnGpu(input, other)) return MulOf(input, other);
  return InPrecision("mul", MulOf, input, other);
}

Variable Div(const Variable& input, const Variable& other) {
  RequireDefined("div", input, other);
  if (!IsFloating(input.dtype()) && !IsFloating(other.dtype())) return TrueQuotient(input, other);
  return InPrecision(
      "div",
      [&](const Variable& input, const Variable& other) {
        Tensor out = ApplyBinary("div", BinaryOp::kDiv, input.data(), other.data());
        // d (a / b) / db = -(a / b) / b: the result is saved in place of the numerator. It is
        // divided before it is multiplied by g, as in PyTorch: g / b may overflow where a / b does
        // not.
        return Record(
            "div", out, {input, other},
            [b = Saved(other), quotient = Saved(other.requires_grad() ? out : Tensor()),
             shape_a = input.shape(), shape_b = other.shape()](const GradContext& g) {
              const auto numerator = [&] {
                return SumTo(ApplyBinary("div", BinaryOp::kDiv, g.grad(), b.get()), shape_a);
              };
              const auto denominator = [&] {
                const Tensor slope = ApplyBinary("div", BinaryOp::kDiv, quotient.get(), b.get());
                const Tensor all = ApplyBinary("div", BinaryOp::kMul, g.grad(), slope);
                return ApplyBinary("div", BinaryOp::kMul, SumTo(all, shape_b), -1);
              };
              return Gradients{g.wants(0) ? numerator() : Tensor(),
                               g.wants(1) ? denominator() : Tensor()};
            });
      },
      input, other);
}

Variable Div(const Variable& input, const Variable& other, DivRounding rounding) {
  return InPrecision(
      "div",
      [&](const Variable& input, const Variable& other) {
        const bool trunc = rounding == DivRounding::kTrunc;
        return Variable(ApplyBinary("div", trunc ? BinaryOp::kTruncDiv : BinaryOp::kFloorDiv,
                                    input.data(), other.data()));
      },
      input, other);
}

Variable Div(const Variable& input, double other, DivRounding rounding) {
  return InPrecision(
      "div",
      [&](const Variable& input) {
        const auto how =
            rounding == DivRounding::kTrunc ? BinaryOp::kTruncDiv : BinaryOp::kFloorDiv;
        return Variable(ApplyBinary("div", how, input.data(), other));
      },
      input);
}

Variable Neg(const Variable& input) {
  RequireDefined("neg", input);
  if (!IsFloating(input.dtype())) return Sub(Constant("neg", 0, input), input);
  return InPrecision(
      "neg",
      [&](const Variable& input) {
        return Record("neg", ApplyBinary("neg", BinaryOp::kMul, input.data(), -1), {input},
                      [](const GradContext& g) {
                        return Gradients{ApplyBinary("neg", BinaryOp::kMul, g.grad(), -1)};
                      });
      },
      input);
}

Variable Add(const Variable& input, double other, double alpha) {
  return InPrecision(
      "add",
      [&](const Variable& input) { return Add(input, Constant("add", alpha * other, input)); },
      input);
}

Variable Sub(const Variable& input, double other, double alpha) {
  return InPrecision(
      "sub",
      [&](const Variable& input) { return Sub(input, Constant("sub", alpha * other, input)); },
      input);
}

Variable Mul(const Variable& input, double other) {
  return InPrecision(
      "mul", [&](const Variable& input) { return Mul(input, Constant("mul", other, input)); },
      input);
}

Variable Div(const Variable& input, double other) {
  return InPrecision(
      "div", [&](const Variable& input) { return Div(input, Constant("div", other, input)); },
      input);
}

}  // namespace torus::ops
