// How tensors are split over tensor-parallel ranks, which compute each layer together (Shoeybi et
// al. 2019, arXiv:1909.08053, section 3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// A rank's place among the ranks that compute each layer together.
struct TensorPlace {
  int rank = 0, size = 1;
};

// The indices from begin to end - 1.
struct IndexRange {
  int64_t begin = 0, end = 0;                   // the first, and the one behind the last
  int64_t size() const { return end - begin; }  // how many they are
};

// A rank's part of 0 .. count - 1. Parts are in rank order and differ in size by at most one, so no
// count needs padding.
IndexRange PartOf(int64_t count, const TensorPlace& place);

// Dimension `dim` consists of `groups` equal runs, and each rank gets its part of every run. For
// example, three runs: queries, keys and values stored side by side.
struct TensorSplit {
  int dim = 0;
  int64_t groups = 1;
};

// The split of a parameter, which has this name in the model.
struct NamedSplit {
  std::string name;
  TensorSplit split;
};

// The shape of a rank's slice of a tensor of shape `whole`.
Shape SliceShape(const Shape& whole, const TensorSplit& split, const TensorPlace& place);
// A rank's slice, copied to new memory. Works on meta too.
Tensor SliceOf(const Tensor& whole, const TensorSplit& split, const TensorPlace& place);
// Reassembles the tensor of shape `whole` from the slices of all ranks, in rank order.
Tensor JoinSlices(const std::vector<Tensor>& slices, const Shape& whole, const TensorSplit& split);

}  // namespace torus
