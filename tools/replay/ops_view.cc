// Operators that only move elements.
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "tools/replay/op_table.h"
#include "tools/replay/promotion.h"

namespace torus::replay {
namespace {

// A gradient is the seed, moved back; what was expanded sums the seeds of its copies.
OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel(), .gradient_size = 1}; }

Dims Needed(Arguments& a, const char* name) {
  const std::optional<Dims> dims = a.attrs().Ints(name);
  if (!dims) Throw<Unsupported>(a.op(), "without {}", name);
  return *dims;
}

OpRun Flatten(Arguments& a) {
  const int64_t start = a.attrs().Int("start_dim", 0), end = a.attrs().Int("end_dim", -1);
  return Run(ops::Flatten(a.Take("input"), start, end));
}

OpRun Reshape(Arguments& a) { return Run(ops::Reshape(a.Take("input"), Needed(a, "shape"))); }

OpRun Transpose(Arguments& a) {
  const int64_t dim0 = a.attrs().Int("dim0", 0), dim1 = a.attrs().Int("dim1", 0);
  return Run(ops::Transpose(a.Take("input"), dim0, dim1));
}

OpRun Permute(Arguments& a) { return Run(ops::Permute(a.Take("input"), Needed(a, "dims"))); }

OpRun Narrow(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", 0), start = a.IntOrTensor("start", 0);
  return Run(ops::Narrow(a.Take("input"), dim, start, a.attrs().Int("length", 0)));
}

OpRun Expand(Arguments& a) { return Run(ops::Expand(a.Take("input"), Needed(a, "size"))); }

OpRun Squeeze(Arguments& a) {
  const std::optional<Dims> dims = a.attrs().Ints("dim");
  const Variable input = a.Take("input");
  return Run(dims ? ops::Squeeze(input, *dims) : ops::Squeeze(input));
}

OpRun Unsqueeze(Arguments& a) {
  return Run(ops::Unsqueeze(a.Take("input"), a.attrs().Int("dim", 0)));
}

// In the dtype that they are promoted to.
std::vector<Variable> Tensors(Arguments& a) {
  std::vector<Operand> operands;
  for (const Variable& tensor : a.TakeList("tensors")) operands.push_back({tensor, {}});
  return Promote(operands);
}

OpRun Cat(Arguments& a) { return Run(ops::Cat(Tensors(a), a.attrs().Int("dim", 0))); }

OpRun Stack(Arguments& a) { return Run(ops::Stack(Tensors(a), a.attrs().Int("dim", 0))); }

// split_size is the schema's name, split_size_or_sections the Python function's.
OpRun Split(Arguments& a) {
  const char* name = a.attrs().Has("split_size") ? "split_size" : "split_size_or_sections";
  const bool sections = a.attrs().Raw(name).is_array();
  const std::optional<std::vector<int64_t>> sizes = a.attrs().List(name);
  if (!sizes) Throw<Unsupported>(a.op(), "without {}", name);
  const int64_t dim = a.attrs().Int("dim", 0);
  const Variable input = a.Take("input");
  if (!sections) return {.outputs = ops::Split(input, sizes->front(), dim)};
  return {.outputs = ops::Split(input, *sizes, dim)};
}

}  // namespace

void AddViews(OpTable& table) {
  table["flatten"] = Flatten;
  table["reshape"] = Reshape;
  table["transpose"] = Transpose;
  table["permute"] = Permute;
  table["narrow"] = Narrow;
  table["expand"] = Expand;
  table["squeeze"] = Squeeze;
  table["unsqueeze"] = Unsqueeze;
  table["cat"] = Cat;
  table["stack"] = Stack;
  table["split"] = Split;
}

}  // namespace torus::replay
