// Sums of products by names of dimensions.
#include <algorithm>
#include <cmath>
#include <map>

#include "ops/einsum/einsum.h"
#include "ops/einsum/equation.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// As many products are formed as there are values of all letters together.
int64_t CountProducts(const std::string& equation, const std::vector<Variable>& operands) {
  std::vector<int> ranks;
  for (const Variable& operand : operands) ranks.push_back(operand.rank());
  const ops::EinsumLabels labels = ops::ReadEquation(equation, ranks);
  std::map<int, int64_t> sizes;
  for (size_t i = 0; i < operands.size(); ++i)
    for (int d = 0; d < operands[i].rank(); ++d) {
      int64_t& size = sizes[labels.operands[i][static_cast<size_t>(d)]];
      size = std::max(size, operands[i].dim(d));
    }
  int64_t count = 1;
  for (const auto& [label, size] : sizes) count *= size;
  return count;
}

// Named operands.0, operands.1, ..., or, where a case names the first as it does of other
// operators, input and other.
OpRun Einsum(Arguments& a) {
  const std::string equation = a.attrs().Text("equation", "");
  std::vector<std::string> names;
  if (a.Has("input")) names.push_back("input");
  if (a.Has("other")) names.push_back("other");
  for (const char* list : {"operands", "tensors"})
    for (int i = 0; a.Has(fmt::format("{}.{}", list, i)); ++i)
      names.push_back(fmt::format("{}.{}", list, i));
  std::vector<Variable> operands;
  for (const std::string& name : names) operands.push_back(a.Take(name));
  const Variable y = ops::Einsum(equation, operands);
  return {.outputs = {y}, .terms = CountProducts(equation, operands), .factors = names};
}

Dims DimsOf(const nlohmann::json& list) {
  Dims dims;
  for (const nlohmann::json& dim : list) dims.push_back(dim.get<int64_t>());
  return dims;
}

OpRun Tensordot(Arguments& a) {
  const std::string left_name = a.Has("a") ? "a" : "input", right_name = a.Has("b") ? "b" : "other";
  const nlohmann::json dims = a.attrs().Raw("dims");
  const Variable left = a.Take(left_name), right = a.Take(right_name);
  const bool pairs = dims.is_array();
  const Variable y = pairs ? ops::Tensordot(left, right, DimsOf(dims.at(0)), DimsOf(dims.at(1)))
                           : ops::Tensordot(left, right, dims.is_null() ? 2 : dims.get<int64_t>());
  const int64_t all = std::max<int64_t>(1, left.numel() * right.numel());
  const int64_t both = std::max<int64_t>(1, y.numel());
  // numel(a) numel(b) / numel(y) is the square of the summed length.
  const auto length = static_cast<int64_t>(std::sqrt(static_cast<double>(all / both)));
  return {.outputs = {y}, .terms = both * (length + 1), .factors = {left_name, right_name}};
}

OpRun Outer(Arguments& a) {
  const Variable input = a.Take("input"), vec2 = a.Take("vec2"), y = ops::Outer(input, vec2);
  return {.outputs = {y}, .terms = y.numel(), .factors = {"input", "vec2"}};
}

}  // namespace

void AddEinsums(OpTable& table) {
  table["einsum"] = Einsum;
  table["tensordot"] = Tensordot;
  table["outer"] = Outer;
}

}  // namespace torus::replay
