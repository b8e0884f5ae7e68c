#include "ops/elementwise/select.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

// (rows, columns) bool: whether column - row lies in [low, high].
Variable Band(std::string_view op, const Variable& input, int64_t low, int64_t high) {
  Require(input.rank() >= 2, op, "needs matrices, got {}", input.shape());
  Tensor mask({input.dim(-2), input.dim(-1)}, DType::kBool, input.data().device());
  kernels::Band(op, low, high, mask);
  return Variable(mask);
}

}  // namespace

Variable Where(const Variable& condition, const Variable& input, const Variable& other) {
  return InPrecision(
      "where",
      [&](const Variable& condition, const Variable& input, const Variable& other) {
        Tensor out = ApplySelect("where", condition.data(), input.data(), other.data());
        return Record(
            "where", std::move(out), {condition, input, other},
            [mask = Saved(condition), a = input.shape(), b = other.shape()](const GradContext& g) {
              const Tensor zero = Number(0, g.grad());
              const auto kept = [&] { return ApplySelect("where", mask.get(), g.grad(), zero); };
              const auto left = [&] { return ApplySelect("where", mask.get(), zero, g.grad()); };
              return Gradients{Tensor(), g.wants(1) ? SumTo(kept(), a) : Tensor(),
                               g.wants(2) ? SumTo(left(), b) : Tensor()};
            });
      },
      condition, input, other);
}

Variable MaskedFill(const Variable& input, const Variable& mask, const Variable& value) {
  RequireDefined("masked_fill", input, mask, value);
  Require(value.rank() == 0, "masked_fill", "the value must be a scalar, got {}", value.shape());
  return Where(mask, value, input);
}

Variable MaskedFill(const Variable& input, const Variable& mask, double value) {
  return InPrecision(
      "where",
      [&](const Variable& input, const Variable& mask) {
        return Where(mask, Variable(NumberFor("masked_fill", value, input.data())), input);
      },
      input, mask);
}

Variable Tril(const Variable& input, int64_t diagonal) {
  return InPrecision(
      "where",
      [&](const Variable& input) {
        return Where(Band("tril", input, INT64_MIN, diagonal), input,
                     Variable(Number(0, input.data())));
      },
      input);
}

Variable Triu(const Variable& input, int64_t diagonal) {
  return InPrecision(
      "where",
      [&](const Variable& input) {
        return Where(Band("triu", input, diagonal, INT64_MAX), input,
                     Variable(Number(0, input.data())));
      },
      input);
}

}  // namespace torus::ops
