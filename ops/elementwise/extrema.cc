#include "ops/elementwise/extrema.h"

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

Tensor Less(const Tensor& a, const Tensor& b) {
  return ApplyCompare("less", CompareOp::kLess, a, b);
}

// g where `mine` is taken, half of it where both are equal; zero where `lost`.
Tensor WinnersShare(const Tensor& mine, const Tensor& other, const Tensor& lost, const Tensor& g) {
  const Tensor equal = ApplyCompare("equal", CompareOp::kEqual, mine, other);
  const Tensor half = ApplyBinary("share", BinaryOp::kMul, g, 0.5);
  return ApplySelect("share", lost, Number(0, g), ApplySelect("share", equal, half, g));
}

// The rule of Maximum, and of Minimum with `smaller`.
GradRule ExtremumRule(const Variable& input, const Variable& other, bool smaller) {
  return [a = Saved(input), b = Saved(other), smaller](const GradContext& g) {
    const auto share = [&](const Tensor& mine, const Tensor& theirs) {
      const Tensor lost = smaller ? Less(theirs, mine) : Less(mine, theirs);
      return SumTo(WinnersShare(mine, theirs, lost, g.grad()), mine.shape());
    };
    return Gradients{g.wants(0) ? share(a.get(), b.get()) : Tensor(),
                     g.wants(1) ? share(b.get(), a.get()) : Tensor()};
  };
}

// min(max(x, low), high), each bound where it is defined.
Tensor Clamped(Tensor x, const Tensor& low, const Tensor& high) {
  if (low.defined()) x = ApplyBinary("clamp", BinaryOp::kMaximum, x, low);
  if (high.defined()) x = ApplyBinary("clamp", BinaryOp::kMinimum, x, high);
  return x;
}

// t where the mask holds, else 0.
Tensor Only(const Tensor& mask, const Tensor& t) { return ApplySelect("clamp", mask, t, 0); }

// The rule of Clamp between two tensors. Input and bound share where they are equal, unless the
// bounds are equal too. Where the bounds cross, the upper one is taken.
GradRule BoundsRule(const Variable& input, const Variable& min, const Variable& max) {
  return [x = Saved(input), low = Saved(min), high = Saved(max)](const GradContext& g) {
    const Tensor &a = x.get(), &l = low.get(), &h = high.get();
    const Tensor zero = Number(0, g.grad()), apart = Less(l, h);
    const Tensor half = ApplyBinary("share", BinaryOp::kMul, g.grad(), 0.5);
    const auto equal = [&](const Tensor& bound) {
      return ApplyCompare("equal", CompareOp::kEqual, a, bound);
    };
    const auto inside = [&] {
      const Tensor tied =
          ApplySelect("share", equal(l), half, ApplySelect("share", equal(h), half, g.grad()));
      const Tensor within = ApplySelect("share", apart, tied, g.grad());
      return SumTo(
          ApplySelect("clamp", Less(a, l), zero, ApplySelect("clamp", Less(h, a), zero, within)),
          a.shape());
    };
    // What a bound that does not cross the other has: `beyond` says where the input lies outside.
    const auto bounded = [&](const Tensor& bound, const Tensor& beyond) {
      const Tensor shared = Only(equal(bound), Only(apart, half));
      return Only(ApplyCompare("clamp", CompareOp::kLessEqual, l, h),
                  ApplySelect("clamp", beyond, g.grad(), shared));
    };
    const auto lower = [&] { return SumTo(bounded(l, Less(a, l)), l.shape()); };
    const auto upper = [&] {
      return SumTo(ApplySelect("clamp", Less(h, l), g.grad(), bounded(h, Less(h, a))), h.shape());
    };
    return Gradients{g.wants(0) ? inside() : Tensor(), g.wants(1) ? lower() : Tensor(),
                     g.wants(2) ? upper() : Tensor()};
  };
}

}  // namespace

Variable Maximum(const Variable& input, const Variable& other) {
  return InPrecision(
      "maximum",
      [&](const Variable& input, const Variable& other) {
        return Record("maximum",
                      ApplyBinary("maximum", BinaryOp::kMaximum, input.data(), other.data()),
                      {input, other}, ExtremumRule(input, other, false));
      },
      input, other);
}

Variable Minimum(const Variable& input, const Variable& other) {
  return InPrecision(
      "minimum",
      [&](const Variable& input, const Variable& other) {
        return Record("minimum",
                      ApplyBinary("minimum", BinaryOp::kMinimum, input.data(), other.data()),
                      {input, other}, ExtremumRule(input, other, true));
      },
      input, other);
}

Variable Clamp(const Variable& input, const Variable& min, const Variable& max) {
  Require(min.defined() || max.defined(), "clamp", "needs a bound");
  if (!max.defined()) return Maximum(input, min);
  if (!min.defined()) return Minimum(input, max);
  return InPrecision(
      "clamp",
      [&](const Variable& input, const Variable& min, const Variable& max) {
        return Record("clamp", Clamped(input.data(), min.data(), max.data()), {input, min, max},
                      BoundsRule(input, min, max));
      },
      input, min, max);
}

Variable Clamp(const Variable& input, std::optional<double> min, std::optional<double> max) {
  Require(min || max, "clamp", "needs a bound");
  return InPrecision(
      "clamp",
      [&](const Variable& input) {
        const Tensor& x = input.data();
        const auto bound = [&](std::optional<double> value) {
          return value ? NumberFor("clamp", *value, x) : Tensor();
        };
        const Tensor low = bound(min), high = bound(max);
        return Record("clamp", Clamped(x, low, high), {input},
                      [x = Saved(x), low, high](const GradContext& g) {
                        Tensor inside = g.grad();
                        if (low.defined()) inside = Only(Less(low, x.get()), inside);
                        if (high.defined()) inside = Only(Less(x.get(), high), inside);
                        return Gradients{inside};
                      });
      },
      input);
}

}  // namespace torus::ops
