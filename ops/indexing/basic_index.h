// The part of an index that only views: integers, slices and new dimensions.
#pragma once

#include <variant>
#include <vector>

#include "ops/indexing/index.h"

namespace torus::ops {

// What happens to one dimension of the input, or a new one, in order.
using BasicItem = std::variant<int64_t, Slice, NewAxis>;

// An index as a view of the input, and then a selection along `dim` of the view.
struct IndexPlan {
  std::vector<BasicItem> basic;  // one for each dimension of the input, besides new ones
  Tensor selected;               // index tensor or mask; undefined: none
  int dim = 0;                   // the first dimension of the view that it replaces
};

// Checks the items against a shape. Throws BadInput tagged "index".
IndexPlan PlanIndex(const std::vector<IndexItem>& index, const Shape& shape);

// The view of the tensor. Throws BadInput tagged "index" for an integer outside of its dimension.
Tensor ViewOf(const Tensor& tensor, const std::vector<BasicItem>& basic);

}  // namespace torus::ops
