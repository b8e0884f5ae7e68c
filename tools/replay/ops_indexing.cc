// Operators that pick elements by index.
#include "ops/indexing/indexing.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// A picked element's gradient sums over all the places it was put.
OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel(), .least = y.numel()}; }

void RefuseFlag(Arguments& a, const char* name) {
  if (a.attrs().Flag(name, false)) Throw<Unsupported>(a.op(), "{}", name);
}

OpRun IndexSelect(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::IndexSelect(input, a.attrs().Int("dim", 0), a.Take("index")));
}

OpRun Gather(Arguments& a) {
  RefuseFlag(a, "sparse_grad");
  const Variable input = a.Take("input"), index = a.Take("index");
  return Run(ops::Gather(input, a.attrs().Int("dim", 0), index));
}

OpRun Embedding(Arguments& a) {
  RefuseFlag(a, "sparse");
  RefuseFlag(a, "scale_grad_by_freq");
  if (a.attrs().Has("max_norm")) Throw<Unsupported>(a.op(), "max_norm");
  a.attrs().Number("norm_type", 2);  // of max_norm alone
  std::optional<int64_t> padding;
  if (a.attrs().Has("padding_idx")) padding = a.attrs().Int("padding_idx", 0);
  const Variable input = a.Take("input");
  return Run(ops::Embedding(input, a.Take("weight"), padding));
}

}  // namespace

void AddIndexing(OpTable& table) {
  table["index_select"] = IndexSelect;
  table["gather"] = Gather;
  table["embedding"] = Embedding;
}

}  // namespace torus::replay
