// Element-wise operators and activation functions.
#include <algorithm>
#include <cmath>

#include "ops/activation/activation.h"
#include "ops/elementwise/cast.h"
#include "ops/elementwise/comparison.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/math.h"
#include "ops/elementwise/remainder.h"
#include "ops/view/view.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// The gradient of a broadcast argument sums over the elements that were computed from it.
OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel()}; }

// Of an activation function. Ours has a result of its own, which in PyTorch's form in place the
// input becomes.
OpRun RunInPlaceToo(Arguments& a, const Variable& y) {
  OpRun run = Run(y);
  if (a.attrs().Flag("inplace", false)) run.after["input"] = y.data();
  return run;
}

template <Variable (*kOp)(const Variable&)>
OpRun Unary(Arguments& a) {
  return RunInPlaceToo(a, kOp(a.Take("input")));
}

// Functions that take integers as f32.
template <Variable (*kOp)(const Variable&)>
OpRun OfReal(Arguments& a) {
  const Variable input = a.Take("input");
  return RunInPlaceToo(a, kOp(IsFloating(input.dtype()) ? input : ops::Cast(input, DType::kF32)));
}

// Functions that saturate at 1: their gradient is 1 - y or 1 - y^2, where y has the rounding error
// of a 1.
template <Variable (*kOp)(const Variable&)>
OpRun Saturating(Arguments& a) {
  OpRun run = OfReal<kOp>(a);
  run.gradient_size = 1;
  return run;
}

// Tensors or numbers, either of them.
std::vector<Variable> Pair(Arguments& a) {
  std::vector<Variable> pair = a.Promoted({"input", "other"});
  for (const size_t i : {0, 1})
    if (!pair[i].defined()) Throw<Unsupported>(a.op(), "without {}", i == 0 ? "input" : "other");
  return pair;
}

template <Variable (*kOp)(const Variable&, const Variable&, double)>
OpRun Sum(Arguments& a) {
  const auto pair = Pair(a);
  const double alpha = a.attrs().Number("alpha", 1);
  OpRun run = Run(kOp(pair[0], pair[1], alpha));
  run.gradient_size = std::max(1.0, std::fabs(alpha));
  return run;
}

OpRun Mul(Arguments& a) {
  const auto pair = Pair(a);
  OpRun run = Run(ops::Mul(pair[0], pair[1]));
  run.factors = {"input", "other"};
  return run;
}

OpRun Div(Arguments& a) {
  const auto pair = Pair(a);
  const std::string rounding = a.attrs().Text("rounding_mode", "");
  if (rounding.empty()) return Run(ops::Div(pair[0], pair[1]));
  if (rounding != "trunc" && rounding != "floor")
    Throw<Unsupported>(a.op(), "rounding_mode {}", rounding);
  const auto how = rounding == "trunc" ? ops::DivRounding::kTrunc : ops::DivRounding::kFloor;
  return Run(ops::Div(pair[0], pair[1], how));
}

// With numbers on either side.
template <Variable (*kOp)(const Variable&, const Variable&)>
OpRun OfTwo(Arguments& a) {
  const auto pair = Pair(a);
  return Run(kOp(pair[0], pair[1]));
}

OpRun FloorDivide(Arguments& a) {
  const auto pair = Pair(a);
  return Run(ops::Div(pair[0], pair[1], ops::DivRounding::kFloor));
}

// Of two tensors, whose dtypes do not matter.
template <Variable (*kOp)(const Variable&, const Variable&)>
OpRun Logical(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(kOp(input, a.Take("other")));
}

OpRun Round(Arguments& a) {
  const int64_t decimals = a.attrs().Int("decimals", 0);
  return Run(ops::Round(a.Take("input"), decimals));
}

// A bool's square is an i64.
OpRun Square(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::Square(input.dtype() == DType::kBool ? ops::Cast(input, DType::kI64) : input));
}

OpRun Hardtanh(Arguments& a) {
  const double low = a.attrs().Number("min_val", -1), high = a.attrs().Number("max_val", 1);
  return RunInPlaceToo(a, ops::Hardtanh(a.Take("input"), low, high));
}

OpRun LeakyRelu(Arguments& a) {
  const Variable input = a.Take("input");
  return RunInPlaceToo(a, ops::LeakyRelu(input, a.attrs().Number("negative_slope", 0.01)));
}

template <Variable (*kOp)(const Variable&, double)>
OpRun WithAlpha(Arguments& a) {
  const double alpha = a.attrs().Number("alpha", 1);
  return RunInPlaceToo(a, kOp(a.Take("input"), alpha));
}

OpRun Threshold(Arguments& a) {
  const double threshold = a.attrs().Number("threshold", 0), value = a.attrs().Number("value", 0);
  return RunInPlaceToo(a, ops::Threshold(a.Take("input"), threshold, value));
}

// PyTorch's channels are dimension 1, ours the last. The gradient of a weight sums over the others.
OpRun Prelu(Arguments& a) {
  const Variable input = a.Take("input"), weight = a.Take("weight");
  if (input.rank() == 0) return Run(ops::Prelu(input, ops::Reshape(weight, {})));
  if (input.rank() < 3) return Run(ops::Prelu(input, weight));
  return Run(ops::Transpose(ops::Prelu(ops::Transpose(input, 1, -1), weight), 1, -1));
}

OpRun Glu(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", -1);
  return Run(ops::Glu(a.Take("input"), dim));
}

OpRun Gelu(Arguments& a) {
  return Run(ops::Gelu(a.Take("input"), a.attrs().Text("approximate", "none")));
}

OpRun Softplus(Arguments& a) {
  const double beta = a.attrs().Number("beta", 1), threshold = a.attrs().Number("threshold", 20);
  return Run(ops::Softplus(a.Take("input"), beta, threshold));
}

// Activation functions.
void AddActivations(OpTable& table) {
  table["relu"] = Unary<ops::Relu>;
  table["relu6"] = Unary<ops::Relu6>;
  table["hardtanh"] = Hardtanh;
  table["leaky_relu"] = LeakyRelu;
  table["sigmoid"] = Saturating<ops::Sigmoid>;
  table["logsigmoid"] = Unary<ops::LogSigmoid>;
  table["tanh"] = Saturating<ops::Tanh>;
  table["silu"] = Unary<ops::Silu>;
  table["gelu"] = Gelu;
  table["softplus"] = Softplus;
  table["elu"] = WithAlpha<ops::Elu>;
  table["selu"] = Unary<ops::Selu>;
  table["celu"] = WithAlpha<ops::Celu>;
  table["mish"] = Unary<ops::Mish>;
  table["hardsigmoid"] = Unary<ops::Hardsigmoid>;
  table["hardswish"] = Unary<ops::Hardswish>;
  table["softsign"] = OfReal<ops::Softsign>;
  table["threshold"] = Threshold;
  table["prelu"] = Prelu;
  table["glu"] = Glu;
}

void AddMath(OpTable& table) {
  table["exp"] = OfReal<ops::Exp>;
  table["expm1"] = OfReal<ops::Expm1>;
  table["log"] = OfReal<ops::Log>;
  table["log1p"] = OfReal<ops::Log1p>;
  table["sqrt"] = OfReal<ops::Sqrt>;
  table["rsqrt"] = OfReal<ops::Rsqrt>;
  table["reciprocal"] = OfReal<ops::Reciprocal>;
  table["sin"] = OfReal<ops::Sin>;
  table["cos"] = OfReal<ops::Cos>;
  table["tan"] = OfReal<ops::Tan>;
  table["erf"] = OfReal<ops::Erf>;
  table["abs"] = Unary<ops::Abs>;
  table["square"] = Square;
  table["sign"] = Unary<ops::Sign>;
  table["floor"] = Unary<ops::Floor>;
  table["ceil"] = Unary<ops::Ceil>;
  table["round"] = Round;
}

void AddComparisons(OpTable& table) {
  table["eq"] = OfTwo<ops::Eq>;
  table["ne"] = OfTwo<ops::Ne>;
  table["lt"] = OfTwo<ops::Lt>;
  table["le"] = OfTwo<ops::Le>;
  table["gt"] = OfTwo<ops::Gt>;
  table["ge"] = OfTwo<ops::Ge>;
  table["logical_and"] = Logical<ops::LogicalAnd>;
  table["logical_or"] = Logical<ops::LogicalOr>;
  table["logical_xor"] = Logical<ops::LogicalXor>;
  table["logical_not"] = Unary<ops::LogicalNot>;
  table["isnan"] = Unary<ops::IsNan>;
  table["isinf"] = Unary<ops::IsInf>;
  table["isfinite"] = Unary<ops::IsFinite>;
}

}  // namespace

void AddElementwise(OpTable& table) {
  table["add"] = Sum<ops::Add>;
  table["sub"] = Sum<ops::Sub>;
  table["mul"] = Mul;
  table["div"] = Div;
  table["true_divide"] = Div;
  table["floor_divide"] = FloorDivide;
  table["remainder"] = OfTwo<ops::Remainder>;
  table["fmod"] = OfTwo<ops::Fmod>;
  table["neg"] = Unary<ops::Neg>;
  AddMath(table);
  AddComparisons(table);
  AddActivations(table);
}

}  // namespace torus::replay
