#include "ops/elementwise/extrema.h"

#include <limits>

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
  return InPrecision(
      "clamp",
      [&](const Variable& input, const Variable& min, const Variable& max) {
        Require(min.defined() || max.defined(), "clamp", "needs a bound");
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        const Tensor& x = input.data();
        const Tensor low = min.defined() ? min.data() : Number(-kInfinity, x);
        const Tensor high = max.defined() ? max.data() : Number(kInfinity, x);
        Tensor out = ApplyBinary("clamp", BinaryOp::kMinimum,
                                 ApplyBinary("clamp", BinaryOp::kMaximum, x, low), high);
        return Record(
            "clamp", std::move(out), {input, min, max},
            [x = Saved(x), low = Saved(low), high = Saved(high)](const GradContext& g) {
              const Tensor &a = x.get(), &l = low.get(), &h = high.get();
              const auto only = [](const Tensor& mask, const Tensor& t) {
                return ApplySelect("clamp", mask, t, 0);
              };
              const auto inside = [&] {
                const Tensor above = ApplyCompare("clamp", CompareOp::kLessEqual, l, a);
                const Tensor below = ApplyCompare("clamp", CompareOp::kLessEqual, a, h);
                return SumTo(only(above, only(below, g.grad())), a.shape());
              };
              // Where the bounds cross, the upper one is taken.
              const auto lower = [&] {
                return SumTo(only(Less(l, h), only(Less(a, l), g.grad())), l.shape());
              };
              const auto upper = [&] {
                return SumTo(ApplySelect("clamp", Less(h, l), g.grad(), only(Less(h, a), g.grad())),
                             h.shape());
              };
              return Gradients{g.wants(0) ? inside() : Tensor(), g.wants(1) ? lower() : Tensor(),
                               g.wants(2) ? upper() : Tensor()};
            });
      },
      input, min, max);
}

Variable Clamp(const Variable& input, std::optional<double> min, std::optional<double> max) {
  return InPrecision(
      "clamp",
      [&](const Variable& input) {
        const auto bound = [&](std::optional<double> value) {
          return value ? Variable(Number(*value, input.data())) : Variable();
        };
        return Clamp(input, bound(min), bound(max));
      },
      input);
}

}  // namespace torus::ops
