#include "ops/reduction/variance.h"

#include <algorithm>
#include <cmath>

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/elementwise/binary.h"
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

  Gradients operator()(const GradContext& g) const {
    const Tensor values = x.get(), grad = g.grad().View(mean.get().shape());
    if (all && spare <= 0) {
      const Tensor equal = ApplyCompare("var", CompareOp::kEqual, values, mean.get());
      return {Times(ApplySelect("var", equal, Number(NAN, values), INFINITY), grad)};
    }
    const Tensor factor = ApplyBinary("var", BinaryOp::kMul, grad, 2 / spare);
    return {Times(factor, Minus(values, mean.get()))};
  }
};

Variable VarOf(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  const Dims reduced = ReducedDims("var", dims, input.rank());
  const double count = static_cast<double>(ReducedCount(input.shape(), reduced));
  const Tensor mean = SumOver("var", input.data(), reduced, true, count);
  const Tensor off = Minus(input.data(), mean);
  const Tensor squares = SumOver("var", Times(off, off), reduced, keepdim);
  const double spare = count - correction;
  return Record(
      "var", ApplyBinary("var", BinaryOp::kDiv, squares, std::max(0.0, spare)), {input},
      VarRule{SavedActivation(input), Saved(mean), dims.rank() == 0 || input.rank() == 0, spare});
}

}  // namespace

Variable Var(const Variable& input, const Dims& dims, double correction, bool keepdim) {
  return InPrecision(
      "var", [&](const Variable& input) { return VarOf(input, dims, correction, keepdim); }, input);
}

}  // namespace torus::ops
