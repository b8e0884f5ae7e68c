#include "ops/einsum/einsum.h"

#include "autograd/undefined_input.h"
#include "ops/einsum/contract.h"
#include "ops/einsum/equation.h"
#include "ops/elementwise/elementwise.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::ops {

Variable Einsum(std::string_view equation, const std::vector<Variable>& operands) {
  Require(!operands.empty(), "einsum", "needs at least one operand");
  std::vector<int> ranks;
  for (const Variable& operand : operands) {
    RequireDefined("einsum", operand);
    ranks.push_back(operand.rank());
  }
  const EinsumLabels labels = ReadEquation(equation, ranks);
  std::vector<LabelledTensor> labelled;
  for (size_t i = 0; i < operands.size(); ++i)
    labelled.push_back({operands[i], labels.operands[i]});
  return Contract("einsum", std::move(labelled), labels.result);
}

Variable Tensordot(const Variable& a, const Variable& b, int64_t dims) {
  RequireDefined("tensordot", a, b);
  Require(dims >= 0 && dims <= a.rank() && dims <= b.rank(), "tensordot",
          "{} and {} do not have {} dimensions in common", a.shape(), b.shape(), dims);
  Dims last, first;
  for (int64_t i = 0; i < dims; ++i) {
    last.push_back(a.rank() - dims + i);
    first.push_back(i);
  }
  return Tensordot(a, b, last, first);
}

Variable Tensordot(const Variable& a, const Variable& b, const Dims& dims_a, const Dims& dims_b) {
  RequireDefined("tensordot", a, b);
  Require(dims_a.rank() == dims_b.rank(), "tensordot", "{} and {} are no pairs of dimensions",
          dims_a, dims_b);
  std::vector<int> left, right, result;
  for (int d = 0; d < a.rank(); ++d) left.push_back(d);
  for (int d = 0; d < b.rank(); ++d) right.push_back(a.rank() + d);
  std::vector<bool> summed(static_cast<size_t>(a.rank() + b.rank()), false);
  for (int i = 0; i < dims_a.rank(); ++i) {
    const int in_a = NormalizeDim("tensordot", dims_a[i], a.rank());
    const int in_b = NormalizeDim("tensordot", dims_b[i], b.rank());
    const auto place = static_cast<size_t>(a.rank() + in_b);
    Require(!summed[static_cast<size_t>(in_a)] && !summed[place], "tensordot",
            "{} or {} names a dimension twice", dims_a, dims_b);
    summed[static_cast<size_t>(in_a)] = summed[place] = true;
    right[static_cast<size_t>(in_b)] = in_a;
  }
  for (int label = 0; label < a.rank() + b.rank(); ++label)
    if (!summed[static_cast<size_t>(label)]) result.push_back(label);
  return Contract("tensordot", {{a, left}, {b, right}}, result);
}

Variable Outer(const Variable& input, const Variable& vec2) {
  RequireDefined("outer", input, vec2);
  Require(input.rank() == 1 && vec2.rank() == 1, "outer", "needs two vectors, got {} and {}",
          input.shape(), vec2.shape());
  return Mul(Unsqueeze(input, 1), vec2);
}

}  // namespace torus::ops
