// Operators that pick elements by index.
#include "ops/indexing/embedding_bag.h"
#include "ops/indexing/indexing.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// A picked element's gradient sums over all the places it was put.
OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel(), .least = y.numel()}; }

// The same gradient, which PyTorch keeps as a sparse tensor.
void ReadSparse(Arguments& a, const char* name) { a.attrs().Flag(name, false); }

OpRun IndexSelect(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::IndexSelect(input, a.attrs().Int("dim", 0), a.Take("index")));
}

OpRun Gather(Arguments& a) {
  ReadSparse(a, "sparse_grad");
  const Variable input = a.Take("input"), index = a.Take("index");
  return Run(ops::Gather(input, a.attrs().Int("dim", 0), index));
}

OpRun Embedding(Arguments& a) {
  ReadSparse(a, "sparse");
  const bool by_frequency = a.attrs().Flag("scale_grad_by_freq", false);
  const std::optional<double> max_norm = a.attrs().OptionalNumber("max_norm");
  const double norm_type = a.attrs().Number("norm_type", 2);
  std::optional<int64_t> padding;
  if (a.attrs().Has("padding_idx")) padding = a.attrs().Int("padding_idx", 0);
  const Variable input = a.Take("input"), weight = a.Take("weight");
  OpRun run = Run(ops::Embedding(input, weight, padding, max_norm, norm_type, by_frequency));
  run.after["weight"] = weight.data();
  return run;
}

OpRun EmbeddingBag(Arguments& a) {
  ReadSparse(a, "sparse");
  ops::EmbeddingBagOptions options{
      .max_norm = a.attrs().OptionalNumber("max_norm"),
      .norm_type = a.attrs().Number("norm_type", 2),
      .scale_grad_by_freq = a.attrs().Flag("scale_grad_by_freq", false),
      .mode = ops::ParseBagMode(a.attrs().Text("mode", "mean")),
      .per_sample_weights = a.Optional("per_sample_weights"),
      .include_last_offset = a.attrs().Flag("include_last_offset", false)};
  if (a.attrs().Has("padding_idx")) options.padding_idx = a.attrs().Int("padding_idx", 0);
  const Variable input = a.Take("input"), weight = a.Take("weight");
  OpRun run = Run(ops::EmbeddingBag(input, weight, a.Optional("offsets"), options));
  run.terms = run.least = input.numel() * weight.dim(1);
  run.after["weight"] = weight.data();
  return run;
}

}  // namespace

void AddIndexing(OpTable& table) {
  table["index_select"] = IndexSelect;
  table["gather"] = Gather;
  table["embedding"] = Embedding;
  table["embedding_bag"] = EmbeddingBag;
}

}  // namespace torus::replay
