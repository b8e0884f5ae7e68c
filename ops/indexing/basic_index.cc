#include "ops/indexing/basic_index.h"

#include <algorithm>

namespace torus::ops {
namespace {

template <class T>
bool Is(const IndexItem& item) {
  return std::holds_alternative<T>(item.value());
}

// How many of the input's dimensions an item takes.
int Taken(const IndexItem& item) {
  if (Is<Ellipsis>(item) || Is<NewAxis>(item)) return 0;
  const Tensor* tensor = std::get_if<Tensor>(&item.value());
  if (tensor == nullptr) return 1;
  Require(tensor->defined(), "index", "needs a defined index tensor, got an undefined one");
  return tensor->dtype() == DType::kBool ? tensor->rank() : 1;
}

void CheckSelected(const Tensor& selected, const Shape& shape, int at) {
  const DType dtype = selected.dtype();
  Require(dtype == DType::kBool || dtype == DType::kI64 || dtype == DType::kI32, "index",
          "an index tensor must be i64, i32 or bool, got {}", selected);
  if (dtype != DType::kBool) return;
  Require(selected.rank() > 0, "index", "a mask needs dimensions, got {}", selected);
  for (int d = 0; d < selected.rank(); ++d)
    Require(selected.dim(d) == shape[at + d], "index",
            "the mask {} does not fit dimensions {} to {} of shape {}", selected.shape(), at,
            at + selected.rank() - 1, shape);
}

// Bounds of a slice in a dimension, by Python's rules.
int64_t Bound(std::optional<int64_t> given, int64_t missing, int64_t size) {
  if (!given) return missing;
  return std::clamp<int64_t>(*given < 0 ? *given + size : *given, 0, size);
}

// Builds the view, dimension by dimension.
struct ViewBuilder {
  const Tensor& of;
  Shape shape;
  Strides strides;
  int64_t offset;
  int at = 0;  // the input's next dimension

  void operator()(int64_t index) {
    const int64_t size = of.dim(at), from = index < 0 ? index + size : index;
    Require(from >= 0 && from < size, "index", "{} is outside of dimension {} of shape {}", index,
            at, of.shape());
    offset += from * of.strides()[at++];
  }
  void operator()(const Slice& slice) {
    const int64_t size = of.dim(at), stride = of.strides()[at++];
    const int64_t start = Bound(slice.start, 0, size);
    const int64_t length = std::max<int64_t>(Bound(slice.stop, size, size) - start, 0);
    shape.push_back(length / slice.step + (length % slice.step != 0));
    // A step may be far beyond the end.
    strides.push_back(shape[shape.rank() - 1] > 1 ? stride * slice.step : stride);
    if (length > 0) offset += start * stride;
  }
  void operator()(NewAxis) {
    shape.push_back(1);
    strides.push_back(1);
  }
};

}  // namespace

Slice::Slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step)
    : start(start), stop(stop), step(step) {
  Require(step >= 1, "slice", "needs a step of at least 1 (ops::Flip reverses), got {}", step);
}

IndexPlan PlanIndex(const std::vector<IndexItem>& index, const Shape& shape) {
  int taken = 0;
  for (const IndexItem& item : index) taken += Taken(item);
  const auto ellipses = std::ranges::count_if(index, Is<Ellipsis>);
  Require(ellipses <= 1, "index", "has {} ellipses, where at most one is possible", ellipses);
  Require(std::ranges::count_if(index, Is<Tensor>) <= 1, "index",
          "at most one index tensor or mask is possible; index the result again for the other");
  Require(taken <= shape.rank(), "index", "{} dimensions are indexed of shape {}", taken, shape);
  IndexPlan plan;
  int at = 0, kept = 0;  // dimensions of the input and of the view so far
  const auto keep = [&](int count) {
    plan.basic.insert(plan.basic.end(), static_cast<size_t>(count), Slice());
    at += count;
    kept += count;
  };
  for (const IndexItem& item : index) {
    if (Is<Ellipsis>(item)) {
      keep(shape.rank() - taken);
    } else if (const Tensor* tensor = std::get_if<Tensor>(&item.value())) {
      CheckSelected(*tensor, shape, at);
      plan.selected = *tensor;
      plan.dim = kept;
      keep(Taken(item));
    } else {
      const bool is_int = Is<int64_t>(item), is_new = Is<NewAxis>(item);
      if (is_int) plan.basic.emplace_back(std::get<int64_t>(item.value()));
      if (is_new) plan.basic.emplace_back(NewAxis());
      if (Is<Slice>(item)) plan.basic.emplace_back(std::get<Slice>(item.value()));
      at += is_new ? 0 : 1;
      kept += is_int ? 0 : 1;
    }
  }
  keep(shape.rank() - at);
  return plan;
}

Tensor ViewOf(const Tensor& tensor, const std::vector<BasicItem>& basic) {
  ViewBuilder view{.of = tensor, .shape = {}, .strides = {}, .offset = tensor.offset()};
  for (const BasicItem& item : basic) std::visit(view, item);
  return Tensor(tensor.storage(), view.shape, view.strides, view.offset, tensor.dtype());
}

}  // namespace torus::ops
