// Operators that pick, write and add elements by index, and those that choose them by value.
#include <algorithm>
#include <cmath>

#include "ops/indexing/embedding_bag.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/nonzero.h"
#include "ops/indexing/scatter.h"
#include "ops/sort/sort.h"
#include "ops/view/view.h"
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

OpRun TakeAlongDim(Arguments& a) {
  std::optional<int64_t> dim;
  if (a.attrs().Has("dim")) dim = a.attrs().Int("dim", 0);
  const Variable input = a.Take("input"), indices = a.Take("indices");
  return Run(ops::TakeAlongDim(input, indices, dim));
}

// Any place may get all that is added.
OpRun RunSum(const Variable& y, const Variable& added) {
  return {.outputs = {y}, .terms = y.numel(), .least = added.numel() + 1, .gradient_size = 1};
}

OpRun ScatterAdd(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", 0);
  const Variable input = a.Take("input"), index = a.Take("index"), src = a.Take("src");
  return RunSum(ops::ScatterAdd(input, dim, index, src), src);
}

// `reduce` is the older way to ask for scatter_add.
OpRun Scatter(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", 0);
  const std::string reduce = a.attrs().Text("reduce", "");
  const Variable input = a.Take("input"), index = a.Take("index");
  Variable src = a.Optional("src");
  if (!src.defined()) {
    if (!a.attrs().Has("value")) Throw<Unsupported>(a.op(), "without src and value");
    src = Variable(
        Full(index.shape(), a.attrs().Number("value", 0), input.dtype(), input.data().device()));
  }
  if (reduce == "add") return RunSum(ops::ScatterAdd(input, dim, index, src), src);
  if (!reduce.empty()) Throw<Unsupported>(a.op(), "reduce {}", reduce);
  return Run(ops::Scatter(input, dim, index, src));
}

OpRun IndexAdd(Arguments& a) {
  const int64_t dim = a.attrs().Int("dim", 0);
  const double alpha = a.attrs().Number("alpha", 1);
  const Variable input = a.Take("input"), index = a.Take("index"), source = a.Take("source");
  OpRun run = RunSum(ops::IndexAdd(input, dim, index, source, alpha), source);
  run.gradient_size = std::max(1.0, std::abs(alpha));
  return run;
}

OpRun OneHot(Arguments& a) {
  const int64_t classes = a.attrs().Int("num_classes", -1);
  const Variable input = a.Take(a.Has("tensor") ? "tensor" : "input");
  return Run(Variable(ops::OneHot(input.data(), classes)));
}

OpRun MaskedSelect(Arguments& a) {
  const Variable input = a.Take("input"), mask = a.Take("mask");
  return Run(ops::MaskedSelect(input, mask));
}

OpRun Nonzero(Arguments& a) {
  const bool as_tuple = a.attrs().Flag("as_tuple", false);
  const Variable input = a.Take("input"), places(ops::Nonzero(input.data()));
  if (!as_tuple) return Run(places);
  OpRun run = Run(places);
  run.outputs.clear();  // a column for each dimension; a scalar counts as having one
  const int64_t count = places.dim(0), rank = places.dim(1);
  if (rank == 0) run.outputs.push_back(Variable(Zeros({count}, DType::kI64)));
  for (int64_t d = 0; d < rank; ++d)
    run.outputs.push_back(ops::Reshape(ops::Narrow(places, 1, d, 1), {count}));
  return run;
}

OpRun RunSorted(const ops::SortResult& sorted) {
  return {.outputs = {sorted.values, Variable(sorted.indices)},
          .terms = sorted.values.numel(),
          .gradient_size = 1};
}

OpRun Sort(Arguments& a) {
  Attrs& attrs = a.attrs();
  const int64_t dim = attrs.Int("dim", -1);
  const bool descending = attrs.Flag("descending", false), stable = attrs.Flag("stable", false);
  return RunSorted(ops::Sort(a.Take("input"), dim, descending, stable));
}

OpRun Argsort(Arguments& a) {
  Attrs& attrs = a.attrs();
  const int64_t dim = attrs.Int("dim", -1);
  const bool descending = attrs.Flag("descending", false), stable = attrs.Flag("stable", false);
  return Run(Variable(ops::Argsort(a.Take("input").data(), dim, descending, stable)));
}

OpRun TopK(Arguments& a) {
  Attrs& attrs = a.attrs();
  const int64_t k = attrs.Int("k", 1), dim = attrs.Int("dim", -1);
  const bool largest = attrs.Flag("largest", true), sorted = attrs.Flag("sorted", true);
  return RunSorted(ops::TopK(a.Take("input"), k, dim, largest, sorted));
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
  table["take_along_dim"] = TakeAlongDim;
  table["scatter"] = Scatter;
  table["scatter_add"] = ScatterAdd;
  table["index_add"] = IndexAdd;
  table["one_hot"] = OneHot;
  table["masked_select"] = MaskedSelect;
  table["nonzero"] = Nonzero;
  table["sort"] = Sort;
  table["argsort"] = Argsort;
  table["topk"] = TopK;
  table["embedding_bag"] = EmbeddingBag;
}

}  // namespace torus::replay
