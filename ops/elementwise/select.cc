#include "ops/elementwise/select.h"

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/reduction/sum.h"

namespace torus::ops {
namespace {

Variable Number(double value, const Variable& like) {
  return Variable(Full({}, value, like.dtype(), like.data().device()));
}

// (rows, columns) bool: whether column - row lies in [low, high].
Variable Band(std::string_view op, const Shape& shape, int64_t low, int64_t high) {
  Require(shape.rank() >= 2, op, "needs matrices, got {}", shape);
  const int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1];
  Tensor mask({rows, columns}, DType::kBool);
  bool* p = mask.mutable_data<bool>();
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) p[i * columns + j] = j - i >= low && j - i <= high;
  return Variable(mask);
}

}  // namespace

Variable Where(const Variable& condition, const Variable& input, const Variable& other) {
  Tensor out = ApplySelect("where", condition.data(), input.data(), other.data());
  return Record(
      "where", std::move(out), {condition, input, other},
      [mask = Saved(condition), a = input.shape(), b = other.shape()](const GradContext& g) {
        const Tensor zero = Full({}, 0, g.grad().dtype(), g.grad().device());
        const auto kept = [&] { return ApplySelect("where", mask.get(), g.grad(), zero); };
        const auto left = [&] { return ApplySelect("where", mask.get(), zero, g.grad()); };
        return Gradients{Tensor(), g.wants(1) ? SumTo(kept(), a) : Tensor(),
                         g.wants(2) ? SumTo(left(), b) : Tensor()};
      });
}

Variable MaskedFill(const Variable& input, const Variable& mask, const Variable& value) {
  Require(value.rank() == 0, "masked_fill", "the value must be a scalar, got {}", value.shape());
  return Where(mask, value, input);
}

Variable MaskedFill(const Variable& input, const Variable& mask, double value) {
  return Where(mask, Number(value, input), input);
}

Variable Tril(const Variable& input, int64_t diagonal) {
  return Where(Band("tril", input.shape(), INT64_MIN, diagonal), input, Number(0, input));
}

Variable Triu(const Variable& input, int64_t diagonal) {
  return Where(Band("triu", input.shape(), diagonal, INT64_MAX), input, Number(0, input));
}

}  // namespace torus::ops
