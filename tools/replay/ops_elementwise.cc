// Element-wise operators and activation functions.
#include "ops/activation/activation.h"
#include "ops/activation/math.h"
#include "ops/elementwise/elementwise.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// A gradient of a broadcast argument sums the elements that were made of it.
OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel()}; }

void RefuseInPlace(Arguments& a) {
  if (a.attrs().Flag("inplace", false)) Throw<Unsupported>(a.op(), "in place");
}

template <Variable (*kOp)(const Variable&)>
OpRun Unary(Arguments& a) {
  RefuseInPlace(a);
  return Run(kOp(a.Take("input")));
}

// `other` is a tensor or a number.
template <class Op>
OpRun Binary(Arguments& a, const Op& op) {
  const Variable input = a.Take("input");
  if (a.Has("other")) {
    OpRun run = Run(op(input, a.Take("other")));
    run.factors = {"input", "other"};
    return run;
  }
  if (!a.attrs().Has("other")) Throw<Unsupported>(a.op(), "without other");
  return Run(op(input, a.attrs().Number("other", 0)));
}

OpRun Add(Arguments& a) {
  const double alpha = a.attrs().Number("alpha", 1);
  OpRun run =
      Binary(a, [alpha](const Variable& x, const auto& y) { return ops::Add(x, y, alpha); });
  run.factors.clear();
  return run;
}

OpRun Sub(Arguments& a) {
  const double alpha = a.attrs().Number("alpha", 1);
  OpRun run =
      Binary(a, [alpha](const Variable& x, const auto& y) { return ops::Sub(x, y, alpha); });
  run.factors.clear();
  return run;
}

OpRun Mul(Arguments& a) {
  return Binary(a, [](const Variable& x, const auto& y) { return ops::Mul(x, y); });
}

OpRun Div(Arguments& a) {
  if (a.attrs().Has("rounding_mode"))
    Throw<Unsupported>(a.op(), "rounding_mode {}", a.attrs().Text("rounding_mode", ""));
  OpRun run = Binary(a, [](const Variable& x, const auto& y) { return ops::Div(x, y); });
  run.factors.clear();
  return run;
}

OpRun Hardtanh(Arguments& a) {
  RefuseInPlace(a);
  const double low = a.attrs().Number("min_val", -1), high = a.attrs().Number("max_val", 1);
  return Run(ops::Hardtanh(a.Take("input"), low, high));
}

OpRun LeakyRelu(Arguments& a) {
  RefuseInPlace(a);
  return Run(ops::LeakyRelu(a.Take("input"), a.attrs().Number("negative_slope", 0.01)));
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
  table["add"] = Add;
  table["sub"] = Sub;
  table["mul"] = Mul;
  table["div"] = Div;
  table["neg"] = Unary<ops::Neg>;
  table["relu"] = Unary<ops::Relu>;
  table["relu6"] = Unary<ops::Relu6>;
  table["hardtanh"] = Hardtanh;
  table["leaky_relu"] = LeakyRelu;
  table["sigmoid"] = Unary<ops::Sigmoid>;
  table["logsigmoid"] = Unary<ops::LogSigmoid>;
  table["tanh"] = Unary<ops::Tanh>;
  table["silu"] = Unary<ops::Silu>;
  table["gelu"] = Gelu;
  table["softplus"] = Softplus;
  table["exp"] = Unary<ops::Exp>;
  table["log"] = Unary<ops::Log>;
  table["sqrt"] = Unary<ops::Sqrt>;
  table["rsqrt"] = Unary<ops::Rsqrt>;
  table["abs"] = Unary<ops::Abs>;
}

}  // namespace torus::replay
