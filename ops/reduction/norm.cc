#include "ops/reduction/norm.h"

#include <cmath>

#include "autograd/node.h"
#include "ops/elementwise/apply_map.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/math_functors.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/kernels.h"
#include "ops/reduction/reduced_rows.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

constexpr std::string_view kOp = "norm";

Tensor Times(const Tensor& a, const Tensor& b) { return ApplyBinary(kOp, BinaryOp::kMul, a, b); }
Tensor Over(const Tensor& a, const Tensor& b) { return ApplyBinary(kOp, BinaryOp::kDiv, a, b); }
Tensor ToThe(const Tensor& a, double p) { return ApplyBinary(kOp, BinaryOp::kPow, a, p); }
Tensor Magnitude(const Tensor& x) { return ApplyMap(kOp, AbsFunctor{}, x); }
Tensor SignOf(const Tensor& x) { return ApplyMap(kOp, SignFunctor{}, x); }
Tensor SumOf(const Tensor& x, const Dims& reduced) { return SumOver(kOp, x, reduced, true); }

// t where the mask holds, else 0; and the other way round.
Tensor Only(const Tensor& mask, const Tensor& t) { return ApplySelect(kOp, mask, t, 0); }
Tensor Except(const Tensor& mask, const Tensor& t) {
  return ApplySelect(kOp, mask, Number(0, t), t);
}
Tensor IsZero(const Tensor& t) { return ApplyCompare(kOp, CompareOp::kEqual, t, 0); }

Tensor CountOf(const Tensor& mask, const Tensor& like, const Dims& reduced) {
  return SumOf(ApplySelect(kOp, mask, Number(1, like), 0), reduced);
}

Tensor ExtremeOf(const Tensor& x, bool smallest, const Dims& reduced) {
  const Shape shape = ReducedShape(x.shape(), reduced, true);
  Tensor value(shape, x.dtype(), x.device()), where(shape, DType::kI64, x.device());
  kernels::ExtremeOfRows(kOp, smallest, ReducedRows(x, reduced), value, where);
  return value;
}

// With the reduced dimensions of size 1.
Tensor NormOf(const Tensor& x, double p, const Dims& reduced) {
  if (p == 0) return CountOf(ApplyCompare(kOp, CompareOp::kNotEqual, x, 0), x, reduced);
  if (p == 2) return ApplyMap(kOp, SqrtFunctor{}, SumOf(Times(x, x), reduced));
  const Tensor size = Magnitude(x);
  if (p == 1) return SumOf(size, reduced);
  if (std::isinf(p)) return ExtremeOf(size, p < 0, reduced);
  return ToThe(SumOf(ToThe(size, p), reduced), 1 / p);
}

// The gradient g of the extreme magnitude, in equal parts to those that have it.
Tensor ExtremeGradient(const Tensor& x, const Tensor& norm, const Tensor& g, const Dims& reduced) {
  const Tensor equal = ApplyCompare(kOp, CompareOp::kEqual, Magnitude(x), norm);
  const Tensor nan = ApplyCompare(kOp, CompareOp::kNotEqual, x, x);
  const Tensor has = ApplySelect(kOp, nan, Number(1, nan), equal);
  return Times(SignOf(x), Only(has, Over(g, CountOf(has, x, reduced))));
}

// sign(x) |x|^(p - 1) norm^(1 - p) g, each form as far as it has values.
Tensor PowerGradient(const Tensor& x, const Tensor& norm, const Tensor& g, double p) {
  if (p < 1) {
    const Tensor slope = Except(IsZero(x), ToThe(Magnitude(x), p - 1));
    return Times(Times(SignOf(x), slope), Times(g, ToThe(norm, 1 - p)));
  }
  const Tensor scale = Except(IsZero(norm), Over(g, ToThe(norm, p - 1)));
  if (p < 2) return Times(Times(SignOf(x), ToThe(Magnitude(x), p - 1)), scale);
  return Times(Times(x, ToThe(Magnitude(x), p - 2)), scale);
}

Tensor Gradient(const Tensor& x, const Tensor& norm, const Tensor& g, double p,
                const Dims& reduced) {
  if (p == 0) return {};
  if (p == 1) return Times(SignOf(x), g);
  if (p == 2) return Times(g, Except(IsZero(norm), Over(x, norm)));
  if (std::isinf(p)) return ExtremeGradient(x, norm, g, reduced);
  return PowerGradient(x, norm, g, p);
}

}  // namespace

Variable VectorNorm(const Variable& input, double ord, const Dims& dims, bool keepdim) {
  return InPrecision(
      "norm",
      [&](const Variable& input) {
        Require(!std::isnan(ord), kOp, "the order is NaN");
        const Dims reduced = ReducedDims(kOp, dims, input.rank());
        const Shape shape = ReducedShape(input.shape(), reduced, keepdim);
        Require((ord >= 0 && !std::isinf(ord)) || ReducedCount(input.shape(), reduced) > 0 ||
                    Numel(shape) == 0,
                kOp, "no elements of {} have a norm of order {}", input.shape(), ord);
        const Tensor norm = NormOf(input.data(), ord, reduced);
        return Record("norm", norm.View(shape), {input},
                      [x = Saved(input), norm = Saved(norm), ord, reduced](const GradContext& g) {
                        const Tensor grad = g.grad().View(norm.get().shape());
                        return Gradients{Gradient(x.get(), norm.get(), grad, ord, reduced)};
                      });
      },
      input);
}

}  // namespace torus::ops
