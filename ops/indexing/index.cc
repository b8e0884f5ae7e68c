#include "ops/indexing/index.h"

#include <algorithm>
#include <numeric>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/indexing/basic_index.h"
#include "ops/indexing/index_check.h"
#include "ops/indexing/indexing.h"
#include "ops/view/view.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

bool IsWhole(const std::vector<BasicItem>& basic) {
  return std::ranges::all_of(basic, [](const BasicItem& item) {
    const Slice* slice = std::get_if<Slice>(&item);
    return slice != nullptr && !slice->start && !slice->stop && slice->step == 1;
  });
}

Variable Viewed(const Variable& input, const std::vector<BasicItem>& basic) {
  if (IsWhole(basic)) return input;
  return Record("index", ViewOf(input.data(), basic), {input},
                GradRule::OfView([shape = input.shape(), basic](const GradContext& g) {
                  Tensor whole = Zeros(shape, g.grad().dtype(), g.grad().device());
                  Tensor window = ViewOf(whole, basic);
                  Copy(g.grad(), window);
                  return Gradients{whole};
                }));
}

// The positions at which a mask holds, in row-major order, where the mask lies.
Tensor PositionsOf(const Tensor& mask) {
  Require(mask.device() != kMetaDevice, "index",
          "a mask on meta has no values, so nobody knows how many elements it selects, got {}",
          mask);
  const std::vector<bool> holds = ToVector<bool>(mask);
  std::vector<int64_t> positions;
  for (size_t i = 0; i < holds.size(); ++i)
    if (holds[i]) positions.push_back(static_cast<int64_t>(i));
  return FromVector(positions, {std::ssize(positions)}).To(mask.device());
}

// Indices whose negative values in [-size, 0) count from the end. Computed in f64, which has all
// integers up to 2^53 exactly; larger ones are outside of any dimension.
Tensor FromTheStart(const Tensor& index, int64_t size) {
  const Tensor at = index.To(DType::kF64);
  const auto bound = static_cast<double>(size);
  const Tensor negative = ApplyCompare("index", CompareOp::kLess, at, 0);
  const Tensor beyond = ApplyCompare("index", CompareOp::kLess, at, -bound);
  const Tensor wrapped = ApplyBinary("index", BinaryOp::kAdd, at, bound);
  const Tensor placed = ApplySelect("index", negative, wrapped, at);
  return ApplySelect("index", beyond, at, placed).To(DType::kI64);
}

// A selection along one dimension: what to reshape the view to before, the index of one dimension,
// and the shape of the result.
struct Selection {
  Selection(const Tensor& view, const Tensor& selected, int dim) : dim(dim) {
    const bool mask = selected.dtype() == DType::kBool;
    const int end = dim + (mask ? selected.rank() : 1);
    int64_t size = 1;
    for (int d = dim; d < end; ++d) size *= view.dim(d);
    index = mask ? PositionsOf(selected) : FromTheStart(selected, size).Reshape({selected.numel()});
    if (index.device() != kMetaDevice) index = index.To(view.device());
    for (int d = 0; d < dim; ++d) Push(view.dim(d), {view.dim(d)});
    Push(size, mask ? index.shape() : selected.shape());
    for (int d = end; d < view.rank(); ++d) Push(view.dim(d), {view.dim(d)});
  }
  void Push(int64_t size, const Shape& sizes) {
    joined.push_back(size);
    for (int64_t s : sizes) result.push_back(s);
  }
  int dim;
  Shape joined, result;
  Tensor index;
};

Variable SelectedFrom(const Variable& view, const Tensor& selected, int dim) {
  const Selection of(view.data(), selected, dim);
  return Reshape(IndexSelect(Reshape(view, of.joined), of.dim, Variable(of.index)), of.result);
}

// For each row of a dimension, which row it is in the rows themselves followed by the new ones.
Tensor RowsAfter(const Tensor& index, int64_t rows) {
  std::vector<int64_t> from(static_cast<size_t>(rows));
  std::iota(from.begin(), from.end(), 0);
  const std::vector<int64_t> at = ToVector<int64_t>(index);
  for (size_t i = 0; i < at.size(); ++i)
    from[static_cast<size_t>(at[i])] = rows + static_cast<int64_t>(i);
  return FromVector(from, {rows}).To(index.device());
}

// Copies the values, whose shape is that of the selection, over the selected rows of the view.
void AssignRows(Tensor& view, const Selection& of, const Tensor& values) {
  const Tensor index = CheckedIndex("index", of.index, of.joined[of.dim]);
  if (index.numel() == 0) return;
  const int64_t rows = of.joined[of.dim];
  Shape both = of.joined, added = of.joined;
  both[of.dim] = rows + index.numel();
  added[of.dim] = index.numel();
  Tensor joined(both, view.dtype(), view.device());
  Tensor before = joined.Narrow(of.dim, 0, rows);
  Tensor after = joined.Narrow(of.dim, rows, index.numel());
  Copy(view.Reshape(of.joined), before);
  Copy(values.Reshape(added), after);
  const Tensor from = RowsAfter(index, rows);
  const Variable assigned = IndexSelect(Variable(joined), of.dim, Variable(from));
  Copy(assigned.data().View(view.shape()), view);
}

void CheckAssigned(const Tensor& tensor) {
  Require(tensor.defined(), "assign", "needs a defined tensor, got an undefined one");
}

}  // namespace

Variable Index(const Variable& input, const std::vector<IndexItem>& index) {
  RequireDefined("index", input);
  const IndexPlan plan = PlanIndex(index, input.shape());
  const Variable view = Viewed(input, plan.basic);
  return plan.selected.defined() ? SelectedFrom(view, plan.selected, plan.dim) : view;
}

Tensor Index(const Tensor& input, const std::vector<IndexItem>& index) {
  Require(input.defined(), "index", "needs a defined tensor, got an undefined one");
  return Index(Variable(input), index).data();
}

void Assign(Tensor& tensor, const std::vector<IndexItem>& index, const Tensor& values) {
  CheckAssigned(tensor);
  Require(values.defined(), "assign", "needs defined values, got undefined ones");
  const IndexPlan plan = PlanIndex(index, tensor.shape());
  Tensor view = ViewOf(tensor, plan.basic);
  // Values that lie in the same memory might be overwritten before they are read.
  const Tensor kept = values.storage() == tensor.storage() ? values.Clone() : values;
  if (!plan.selected.defined()) return Copy(kept.Expand(view.shape()), view);
  const Selection of(view, plan.selected, plan.dim);
  AssignRows(view, of, kept.Expand(of.result));
}

void Assign(Tensor& tensor, const std::vector<IndexItem>& index, double value) {
  CheckAssigned(tensor);
  Assign(tensor, index, Full({}, value, tensor.dtype(), tensor.device()));
}

}  // namespace torus::ops
