#include "ops/elementwise/math.h"

#include <cmath>

#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/math_functors.h"
#include "ops/elementwise/record_map.h"

namespace torus::ops {
namespace {

Variable AbsOfInteger(const Tensor& x) {
  Require(x.dtype() != DType::kBool, "abs", "does not take bool");
  if (x.dtype() == DType::kU8) return Variable(x);  // -x wraps around
  return Variable(ApplyBinary("abs", BinaryOp::kMaximum, x, Neg(Variable(x)).data()));
}

// Also of unsigned ones, which have no -1.
Variable SignOfInteger(const Tensor& x) {
  if (x.dtype() == DType::kBool || x.dtype() == DType::kU8)
    return Variable(ApplyBinary("sign", BinaryOp::kMinimum, x, 1));
  const Tensor least = ApplyBinary("sign", BinaryOp::kMaximum, x, -1);
  return Variable(ApplyBinary("sign", BinaryOp::kMinimum, least, 1));
}

bool IsInteger(const char* op, const Variable& v) {
  RequireDefined(op, v);
  return !IsFloating(v.dtype());
}

}  // namespace

Variable Exp(const Variable& input) { return RecordMap("exp", input, ExpFunctor{}); }
Variable Expm1(const Variable& input) { return RecordMap("expm1", input, Expm1Functor{}); }
Variable Log(const Variable& input) { return RecordMap("log", input, LogFunctor{}); }
Variable Log1p(const Variable& input) { return RecordMap("log1p", input, Log1pFunctor{}); }
Variable Sqrt(const Variable& input) { return RecordMap("sqrt", input, SqrtFunctor{}); }
Variable Rsqrt(const Variable& input) { return RecordMap("rsqrt", input, RsqrtFunctor{}); }
Variable Reciprocal(const Variable& input) {
  return RecordMap("reciprocal", input, ReciprocalFunctor{});
}
Variable Sin(const Variable& input) { return RecordMap("sin", input, SinFunctor{}); }
Variable Cos(const Variable& input) { return RecordMap("cos", input, CosFunctor{}); }
Variable Tan(const Variable& input) { return RecordMap("tan", input, TanFunctor{}); }
Variable Erf(const Variable& input) { return RecordMap("erf", input, ErfFunctor{}); }

Variable Abs(const Variable& input) {
  if (IsInteger("abs", input)) return AbsOfInteger(input.data());
  return RecordMap("abs", input, AbsFunctor{});
}

Variable Square(const Variable& input) {
  if (IsInteger("square", input)) return Mul(input, input);
  return RecordMap("square", input, SquareFunctor{});
}

Variable Sign(const Variable& input) {
  if (IsInteger("sign", input)) return SignOfInteger(input.data());
  return RecordMap("sign", input, SignFunctor{});
}

Variable Floor(const Variable& input) {
  return IsInteger("floor", input) ? input : RecordMap("floor", input, FloorFunctor{});
}

Variable Ceil(const Variable& input) {
  return IsInteger("ceil", input) ? input : RecordMap("ceil", input, CeilFunctor{});
}

Variable Round(const Variable& input, int64_t decimals) {
  const bool whole = IsInteger("round", input);
  Require(decimals == 0 || !whole, "round", "{} decimals of integers ({})", decimals, input);
  if (whole) return input;
  if (decimals == 0) return RecordMap("round", input, RoundFunctor{});
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  return RecordMap("round", input, RoundDecimalsFunctor{power, decimals < 0});
}

}  // namespace torus::ops
