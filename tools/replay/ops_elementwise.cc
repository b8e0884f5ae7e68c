// Element-wise operators and activation functions.
#include <algorithm>
#include <cmath>

#include "ops/activation/activation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/elementwise/math.h"
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

// Functions that saturate at 1: their gradient is 1 - y or 1 - y^2, where y has the rounding error
// of a 1.
template <Variable (*kOp)(const Variable&)>
OpRun Saturating(Arguments& a) {
  OpRun run = Unary<kOp>(a);
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

OpRun Hardtanh(Arguments& a) {
  const double low = a.attrs().Number("min_val", -1), high = a.attrs().Number("max_val", 1);
  return RunInPlaceToo(a, ops::Hardtanh(a.Take("input"), low, high));
}

OpRun LeakyRelu(Arguments& a) {
  const Variable input = a.Take("input");
  return RunInPlaceToo(a, ops::LeakyRelu(input, a.attrs().Number("negative_slope", 0.01)));
}

OpRun Gelu(Arguments& a) {
  return Run(ops::Gelu(a.Take("input"), a.attrs().Text("approximate", "none")));
}

OpRun Softplus(Arguments& a) {
  const double beta = a.attrs().Number("beta", 1), threshold = a.attrs().Number("threshold", 20);
  return Run(ops::Softplus(a.Take("input"), beta, threshold));
}

}  // namespace

void AddElementwise(OpTable& table) {
  table["add"] = Sum<ops::Add>;
  table["sub"] = Sum<ops::Sub>;
  table["mul"] = Mul;
  table["div"] = Div;
  table["neg"] = Unary<ops::Neg>;
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
  table["exp"] = Unary<ops::Exp>;
  table["log"] = Unary<ops::Log>;
  table["sqrt"] = Unary<ops::Sqrt>;
  table["rsqrt"] = Unary<ops::Rsqrt>;
  table["erf"] = Unary<ops::Erf>;
  table["abs"] = Unary<ops::Abs>;
}

}  // namespace torus::replay
