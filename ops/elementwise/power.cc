#include <cmath>

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/extrema.h"
#include "ops/reduction/sum.h"
#include "runtime/parallel_for.h"

namespace torus::ops {
namespace {

Tensor Number(double value, const Tensor& like) {
  return Full({}, value, like.dtype(), like.device());
}

// g b a^(b - 1), and 0 where b = 0, whatever a.
Tensor BaseGradient(const Tensor& a, const Tensor& b, const Tensor& g) {
  const Tensor less = ApplyBinary("pow", BinaryOp::kSub, b, 1);
  const Tensor slope =
      ApplyBinary("pow", BinaryOp::kMul, b, ApplyBinary("pow", BinaryOp::kPow, a, less));
  const Tensor constant = ApplyCompare("pow", CompareOp::kEqual, b, Number(0, b));
  return ApplySelect("pow", constant, Number(0, g), ApplyBinary("pow", BinaryOp::kMul, g, slope));
}

// f of each element.
template <class F>
Tensor Mapped(const Tensor& a, const F& f) {
  Tensor out = a.Clone();
  VisitCompute("pow", out.dtype(), [&]<class T>(ComputeType<T>) {
    T* p = out.mutable_data<T>();
    ParallelFor(out.numel(), 1 << 14, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) p[i] = f(p[i]);
    });
  });
  return out;
}

Tensor LogOf(const Tensor& a) {
  return Mapped(a, [](auto v) { return std::log(v); });
}

// With PyTorch's roots for the numbers 0.5 and -0.5: unlike the powers, they are NaN at -infinity
// and keep the sign of -0.
Tensor PowerOf(const Tensor& a, double b) {
  if (b == 0.5) return Mapped(a, [](auto v) { return std::sqrt(v); });
  if (b == -0.5) return Mapped(a, [](auto v) { return 1 / std::sqrt(v); });
  return ApplyBinary("pow", BinaryOp::kPow, a, b);
}

// g a^b log(a), and 0 where a = 0 and b >= 0: there the power does not move.
Tensor ExponentGradient(const Tensor& a, const Tensor& b, const Tensor& power, const Tensor& g) {
  const Tensor slope = ApplyBinary("pow", BinaryOp::kMul, power, LogOf(a));
  const Tensor moved = ApplyBinary("pow", BinaryOp::kMul, g, slope);
  const Tensor zero = ApplyCompare("pow", CompareOp::kEqual, a, Number(0, a));
  const Tensor up = ApplyCompare("pow", CompareOp::kLessEqual, Number(0, b), b);
  return ApplySelect("pow", zero, ApplySelect("pow", up, Number(0, g), moved), moved);
}

}  // namespace

Variable Pow(const Variable& input, const Variable& exponent) {
  const Tensor out = ApplyBinary("pow", BinaryOp::kPow, input.data(), exponent.data());
  return Record("pow", out, {input, exponent},
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
}

Variable Pow(const Variable& input, double exponent) {
  return Record("pow", PowerOf(input.data(), exponent), {input},
                [a = Saved(input), exponent](const GradContext& g) {
                  // 0 where the exponent is, whatever a.
                  if (exponent == 0)
                    return Gradients{Zeros(a.get().shape(), g.grad().dtype(), g.grad().device())};
                  const Tensor slope =
                      ApplyBinary("pow", BinaryOp::kMul, PowerOf(a.get(), exponent - 1), exponent);
                  return Gradients{ApplyBinary("pow", BinaryOp::kMul, g.grad(), slope)};
                });
}

Variable Pow(double input, const Variable& exponent) {
  return Pow(Variable(Number(input, exponent.data())), exponent);
}

}  // namespace torus::ops
