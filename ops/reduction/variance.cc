#include "ops/reduction/variance.h"

#include <algorithm>
#include <cmath>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/elementwise/apply_map.h"
#include "ops/elementwise/binary.h"
#include "ops/elementwise/math_functors.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/sum.h"

namespace torus::ops {
namespace {

Tensor Minus(const Tensor& a, const Tensor& b) { return ApplyBinary("var", BinaryOp::kSub, a, b); }
Tensor Times(const Tensor& a, const Tensor& b) { return ApplyBinary("var", BinaryOp::kMul, a, b); }

// PyTorch has two formulas: over all elements, one whose degrees of freedom are not positive has
// gradients of infinity, or NaN at the mean.
struct VarRule {
  SavedActivation x;
  Saved mean;    // with all dimensions
  bool all;      // over all elements
  double spare;  // degrees of freedom

  Tensor Of(const Tensor& of_var) const {
    const Tensor values = x.get(), grad = of_var.View(mean.get().shape());
    if (all && spare <= 0) {
      const Tensor equal = ApplyCompare("var", CompareOp::kEqual, values, mean.get());
      return Times(ApplySelect("var", equal, Number(NAN, values), INFINITY), grad);
    }
    const Tensor factor = ApplyBinary("var", BinaryOp::kMul, grad, 2 / spare);
    return Times(factor, Minus(values, mean.get()));
  }
};

struct Spread {
  Tensor var;
  VarRule rule;
};

Spread SpreadOf(std::string_view op, const Variable& input, const Dims& dims, double correction,
                bool keepdim) {
  const Dims reduced = ReducedDims(op, dims, input.rank());
  const double count = static_cast<double>(ReducedCount(input.shape(), reduced));
  const Tensor mean = SumOver(op, input.data(), reduced, true, count);
  const Tensor off = Minus(input.data(), mean);
  const Tensor squares = SumOver(op, Times(off, off), reduced, keepdim);
  const double spare = count - correction;
  return {
      ApplyBinary(op, BinaryOp::kDiv, squares, std::max(0.0, spare)),
      VarRule{SavedActivation(input), Saved(mean), dims.rank() == 0 || input.rank() == 0, spare}};
}

Variable VarOf(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  const Spread spread = SpreadOf("var", input, dims, correction, keepdim);
  return Record("var", spread.var, {input}, [rule = spread.rule](const GradContext& g) {
    return Gradients{rule.Of(g.grad())};
  });
}

// The gradient of the variance, given that of its root; 0 where the root is 0.
Tensor BehindRoot(const Tensor& root, const Tensor& grad) {
  const Tensor twice = ApplyBinary("std", BinaryOp::kMul, root, 2);
  const Tensor zero = ApplyCompare("std", CompareOp::kEqual, root, 0);
  return ApplySelect("std", zero, Number(0, grad), ApplyBinary("std", BinaryOp::kDiv, grad, twice));
}

Variable StdOf(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  const Spread spread = SpreadOf("std", input, dims, correction, keepdim);
  const Tensor root = ApplyMap("std", SqrtFunctor{}, spread.var);
  return Record("std", root, {input},
                [rule = spread.rule, root = Saved(root)](const GradContext& g) {
                  return Gradients{rule.Of(BehindRoot(root.get(), g.grad()))};
                });
}

}  // namespace

Variable Var(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  return InPrecision(
      "var", [&](const Variable& input) { return VarOf(input, dims, correction, keepdim); }, input);
}

Variable Std(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  return InPrecision(
      "std", [&](const Variable& input) { return StdOf(input, dims, correction, keepdim); }, input);
}

}  // namespace torus::ops
