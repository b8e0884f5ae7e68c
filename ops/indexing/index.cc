#include "ops/indexing/index.h"

#include <algorithm>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/indexing/basic_index.h"
#include "ops/indexing/index_check.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/kernels.h"
#include "ops/indexing/nonzero.h"
#include "ops/view/view.h"
#include "runtime/defined_tensor.h"
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
  const Tensor places = Nonzero(mask.Reshape({mask.numel()}));
  return places.View({places.dim(0)});
}

// Indices whose negative values in [-size, 0) count from the end.
Tensor FromTheStart(const Tensor& index, int64_t size) {
  const Tensor at = index.To(DType::kI64);
  const auto bound = static_cast<double>(size);
  const Tensor negative = ApplyCompare("index", CompareOp::kLess, at, 0);
  const Tensor beyond = ApplyCompare("index", CompareOp::kLess, at, -bound);
  const Tensor wrapped = ApplyBinary("index", BinaryOp::kAdd, at, bound);
  return ApplySelect("index", beyond, at, ApplySelect("index", negative, wrapped, at));
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

// Copies the values, whose shape is that of the selection, over the selected rows of the view.
void AssignRows(Tensor& view, const Selection& of, const Tensor& values) {
  const Tensor index = CheckedIndex("index", of.index, of.joined[of.dim]);
  if (index.numel() == 0) return;
  Require(index.device() == view.device(), "assign",
          "an index on {} does not say what is written on {}", index.device(), view.device());
  Shape added = of.joined, line = Dims::Filled(of.joined.rank(), 1);
  added[of.dim] = line[of.dim] = index.numel();
  const Tensor source = values.Reshape(added).To(view.dtype()).To(view.device());
  Tensor rows = view.Reshape(of.joined);  // in the same memory, if the view is contiguous
  kernels::Scatter(source, of.dim, index.View(line).Expand(added).Contiguous(), rows);
  if (rows.storage() != view.storage()) Copy(rows.View(view.shape()), view);
}

}  // namespace

Variable Index(const Variable& input, const std::vector<IndexItem>& index) {
  RequireDefined("index", input);
  const IndexPlan plan = PlanIndex(index, input.shape());
  const Variable view = Viewed(input, plan.basic);
  return plan.selected.defined() ? SelectedFrom(view, plan.selected, plan.dim) : view;
}

Tensor Index(const Tensor& input, const std::vector<IndexItem>& index) {
  RequireDefined("index", input);
  return Index(Variable(input), index).data();
}

void Assign(Tensor& tensor, const std::vector<IndexItem>& index, const Tensor& values) {
  RequireDefined("assign", tensor);
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
  RequireDefined("assign", tensor);
  Assign(tensor, index, Full({}, value, tensor.dtype(), tensor.device()));
}

}  // namespace torus::ops
