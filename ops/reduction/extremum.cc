#include "ops/reduction/extremum.h"

#include <algorithm>

#include "autograd/node.h"
#include "ops/elementwise/binary.h"
#include "ops/precision/in_precision.h"
#include "ops/reduction/kernels.h"
#include "ops/reduction/reduced_rows.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"
#include "runtime/defined_tensor.h"

namespace torus::ops {
namespace {

enum class End { kLargest, kSmallest };

struct Extreme {
  Tensor value, where;  // with the reduced dimensions of size 1
};

// The extremum over the dimensions `reduced`. Integers and bool are compared in i64.
Extreme ExtremeOf(std::string_view op, End end, const Tensor& input, const Dims& reduced) {
  const Shape shape = ReducedShape(input.shape(), reduced, true);
  const int64_t count = ReducedCount(input.shape(), reduced);
  Require(count > 0 || Numel(shape) == 0, op, "{} has nothing to choose from", input.shape());
  const Tensor x = IsFloating(input.dtype()) ? input : input.To(DType::kI64);
  Extreme out{Tensor(shape, x.dtype(), x.device()), Tensor(shape, DType::kI64, x.device())};
  kernels::ExtremeOfRows(op, end == End::kSmallest, ReducedRows(x, reduced), out.value, out.where);
  out.value = out.value.To(input.dtype());
  return out;
}

// The gradient g of `value` in equal parts to those that won it. If none did, because it is NaN,
// each is divided by 0, which makes the others NaN too.
Tensor SharedBy(std::string_view op, const Tensor& won, const Tensor& value, const Tensor& g,
                const Dims& reduced) {
  const Tensor ones = ApplySelect(op, won, Number(1, value), 0);
  const Tensor winners = SumOver(op, ones, reduced, true);
  const Tensor share = ApplyBinary(op, BinaryOp::kDiv, g.View(value.shape()), winners);
  return ApplySelect(op, won, share, ApplyBinary(op, BinaryOp::kMul, share, 0));
}

Tensor Equal(std::string_view op, const Tensor& x, const Tensor& value) {
  return ApplyCompare(op, CompareOp::kEqual, x, value);
}

// Where both are NaN, too.
Tensor EqualOrNan(std::string_view op, const Tensor& x, const Tensor& value) {
  const Tensor nan = ApplySelect(op, ApplyCompare(op, CompareOp::kNotEqual, value, value),
                                 ApplyCompare(op, CompareOp::kNotEqual, x, x), 0);
  return ApplySelect(op, Equal(op, x, value), Number(1, nan), nan);
}

// Amax and Amin.
Variable RecordShared(std::string_view op, End end, const Variable& input, const Dims& dims,
                      bool keepdim) {
  const Dims reduced = ReducedDims(op, dims, input.rank());
  const Tensor value = ExtremeOf(op, end, input.data(), reduced).value;
  return Record(op, value.View(ReducedShape(input.shape(), reduced, keepdim)), {input},
                [op, x = Saved(input), value = Saved(value), reduced](const GradContext& g) {
                  return Gradients{SharedBy(op, Equal(op, x.get(), value.get()), value.get(),
                                            g.grad(), reduced)};
                });
}

// Max and Min of all elements.
Variable RecordOfAll(std::string_view op, End end, const Variable& input) {
  const Dims reduced = ReducedDims(op, {}, input.rank());
  const Tensor value = ExtremeOf(op, end, input.data(), reduced).value;
  return Record(op, value.View({}), {input},
                [op, x = Saved(input), value = Saved(value), reduced](const GradContext& g) {
                  return Gradients{SharedBy(op, EqualOrNan(op, x.get(), value.get()), value.get(),
                                            g.grad(), reduced)};
                });
}

// g at `where`, which has size 1 in dimension d, and 0 elsewhere.
Tensor PutAt(std::string_view op, const Shape& shape, int d, const Tensor& where, const Tensor& g) {
  if (shape.rank() == 0) return g;
  Shape line = Dims::Filled(shape.rank(), 1);
  line[d] = shape[d];
  const Tensor places = Arange(shape[d], DType::kI64, g.device()).View(line);
  return ApplySelect(op, Equal(op, places, where), g.View(where.shape()), 0);
}

// Max and Min along a dimension; `where` becomes the indices, without gradient.
Variable RecordChosen(std::string_view op, End end, const Variable& input, int64_t dim,
                      bool keepdim, Tensor& where) {
  const int d = NormalizeDim(op, dim, input.rank());
  const Dims reduced = ReducedDims(op, {dim}, input.rank());
  const Extreme found = ExtremeOf(op, end, input.data(), reduced);
  const Shape shape = ReducedShape(input.shape(), reduced, keepdim);
  where = found.where.View(shape);
  return Record(op, found.value.View(shape), {input},
                [op, from = input.shape(), d, at = Saved(found.where)](const GradContext& g) {
                  return Gradients{PutAt(op, from, d, at.get(), g.grad())};
                });
}

Tensor IndexOf(std::string_view op, End end, const Tensor& input, std::optional<int64_t> dim,
               bool keepdim) {
  RequireDefined(op, input);
  Require(input.dtype() != DType::kBool, op, "does not take bool");
  const Tensor x = IsLow(input.dtype()) ? input.To(DType::kF32) : input;
  const Dims reduced = ReducedDims(op, dim ? Dims{*dim} : Dims{}, input.rank());
  return ExtremeOf(op, end, x, reduced).where.View(ReducedShape(input.shape(), reduced, keepdim));
}

}  // namespace

Variable Amax(const Variable& input, const Dims& dims, bool keepdim) {
  return InPrecision(
      "amax",
      [&](const Variable& x) { return RecordShared("amax", End::kLargest, x, dims, keepdim); },
      input);
}

Variable Amin(const Variable& input, const Dims& dims, bool keepdim) {
  return InPrecision(
      "amin",
      [&](const Variable& x) { return RecordShared("amin", End::kSmallest, x, dims, keepdim); },
      input);
}

Variable Max(const Variable& input) {
  return InPrecision(
      "max", [](const Variable& x) { return RecordOfAll("max", End::kLargest, x); }, input);
}

Variable Min(const Variable& input) {
  return InPrecision(
      "min", [](const Variable& x) { return RecordOfAll("min", End::kSmallest, x); }, input);
}

ValuesAndIndices Max(const Variable& input, int64_t dim, bool keepdim) {
  Tensor where;
  const Variable values = InPrecision(
      "max",
      [&](const Variable& x) { return RecordChosen("max", End::kLargest, x, dim, keepdim, where); },
      input);
  return {values, Variable(where)};
}

ValuesAndIndices Min(const Variable& input, int64_t dim, bool keepdim) {
  Tensor where;
  const Variable values = InPrecision(
      "min",
      [&](const Variable& x) {
        return RecordChosen("min", End::kSmallest, x, dim, keepdim, where);
      },
      input);
  return {values, Variable(where)};
}

Tensor Argmax(const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  return IndexOf("argmax", End::kLargest, input, dim, keepdim);
}

Tensor Argmin(const Tensor& input, std::optional<int64_t> dim, bool keepdim) {
  return IndexOf("argmin", End::kSmallest, input, dim, keepdim);
}

}  // namespace torus::ops
