#include "ops/elementwise/comparison.h"

#include <limits>

#include "autograd/precision.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/apply_map.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/math_functors.h"

namespace torus::ops {
namespace {

// Under a WithPrecision f32 and 16-bit tensors meet, in f32.
Tensor Operand(const Variable& v) {
  const bool meets = WithPrecision::Current() != DType::kF32 && IsLow(v.dtype());
  return meets ? v.data().To(DType::kF32) : v.data();
}

Variable Compared(std::string_view op, CompareOp what, const Variable& a, const Variable& b) {
  RequireDefined(op, a, b);
  return Variable(ApplyCompare(op, what, Operand(a), Operand(b)));
}

Variable Compared(std::string_view op, CompareOp what, const Variable& a, double b) {
  RequireDefined(op, a);
  return Variable(ApplyCompare(op, what, a.data(), b));
}

// The number on the left, where it is compared with its mirror image.
Variable Mirrored(std::string_view op, CompareOp what, const Variable& a, double b) {
  RequireDefined(op, a);
  return Variable(ApplyCompare(op, what, NumberFor(op, b, a.data()), a.data()));
}

Tensor Truth(std::string_view op, const Variable& v) {
  RequireDefined(op, v);
  return v.data().To(DType::kBool);
}

// Compares magnitudes with infinity; integers give `whole`.
Variable AgainstInfinity(std::string_view op, CompareOp what, const Variable& v, bool whole) {
  RequireDefined(op, v);
  if (!IsFloating(v.dtype()))
    return Variable(Full(v.shape(), whole ? 1 : 0, DType::kBool, v.data().device()));
  const Tensor x = IsLow(v.dtype()) ? v.data().To(DType::kF32) : v.data();
  const Tensor magnitude = ApplyMap(op, AbsFunctor{}, x);
  return Variable(ApplyCompare(op, what, magnitude, std::numeric_limits<double>::infinity()));
}

}  // namespace

Variable Eq(const Variable& input, const Variable& other) {
  return Compared("eq", CompareOp::kEqual, input, other);
}
Variable Eq(const Variable& input, double other) {
  return Compared("eq", CompareOp::kEqual, input, other);
}
Tensor Eq(const Tensor& input, const Tensor& other) {
  return Eq(Variable(input), Variable(other)).data();
}

Variable Ne(const Variable& input, const Variable& other) {
  return Compared("ne", CompareOp::kNotEqual, input, other);
}
Variable Ne(const Variable& input, double other) {
  return Compared("ne", CompareOp::kNotEqual, input, other);
}

Variable Lt(const Variable& input, const Variable& other) {
  return Compared("lt", CompareOp::kLess, input, other);
}
Variable Lt(const Variable& input, double other) {
  return Compared("lt", CompareOp::kLess, input, other);
}

Variable Le(const Variable& input, const Variable& other) {
  return Compared("le", CompareOp::kLessEqual, input, other);
}
Variable Le(const Variable& input, double other) {
  return Compared("le", CompareOp::kLessEqual, input, other);
}

Variable Gt(const Variable& input, const Variable& other) {
  return Compared("gt", CompareOp::kLess, other, input);
}
Variable Gt(const Variable& input, double other) {
  return Mirrored("gt", CompareOp::kLess, input, other);
}

Variable Ge(const Variable& input, const Variable& other) {
  return Compared("ge", CompareOp::kLessEqual, other, input);
}
Variable Ge(const Variable& input, double other) {
  return Mirrored("ge", CompareOp::kLessEqual, input, other);
}

Variable LogicalAnd(const Variable& input, const Variable& other) {
  const Tensor b = Truth("logical_and", other);
  return Variable(ApplySelect("logical_and", Truth("logical_and", input), b, 0));
}

Variable LogicalOr(const Variable& input, const Variable& other) {
  const Tensor b = Truth("logical_or", other);
  return Variable(ApplySelect("logical_or", Truth("logical_or", input), Number(1, b), b));
}

Variable LogicalXor(const Variable& input, const Variable& other) {
  return Variable(ApplyCompare("logical_xor", CompareOp::kNotEqual, Truth("logical_xor", input),
                               Truth("logical_xor", other)));
}

Variable LogicalNot(const Variable& input) {
  return Compared("logical_not", CompareOp::kEqual, input, 0);
}

Variable IsNan(const Variable& input) {
  RequireDefined("isnan", input);
  if (!IsFloating(input.dtype())) return AgainstInfinity("isnan", CompareOp::kEqual, input, false);
  return Compared("isnan", CompareOp::kNotEqual, input, input);
}

Variable IsInf(const Variable& input) {
  return AgainstInfinity("isinf", CompareOp::kEqual, input, false);
}

Variable IsFinite(const Variable& input) {
  return AgainstInfinity("isfinite", CompareOp::kLess, input, true);
}

}  // namespace torus::ops
