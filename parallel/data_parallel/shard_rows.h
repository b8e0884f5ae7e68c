// ShardRows: the elements of several tensors in one buffer, with one row per replica: the parts of
// all tensors that it holds, one after another.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parallel/data_parallel/shard_plan.h"
#include "runtime/storage.h"

namespace torus::parallel {

template <class T>
class ShardRows {
 public:
  // `ranges`: for each tensor, its ranges by replica.
  ShardRows(const std::vector<const std::vector<ElementRange>*>& ranges, int replicas)
      : ranges_(ranges), storage_(Elements(ranges, replicas) * sizeof(T), Device{}) {
    T* at = static_cast<T*>(storage_.data());
    for (int r = 0; r < replicas; ++r) {
      rows_.emplace_back(at, RowElements(ranges, r));
      at += rows_.back().size();
    }
  }

  const std::vector<std::span<T>>& rows() const { return rows_; }

  // Calls fn(tensor, range, elements in the row) for each part of row `r` that is not empty.
  template <class Fn>
  void ForEachPart(int r, const Fn& fn) const {
    T* at = rows_[r].data();
    for (size_t i = 0; i < ranges_.size(); ++i) {
      const ElementRange& range = (*ranges_[i])[r];
      if (range.size() == 0) continue;
      fn(i, range, at);
      at += range.size();
    }
  }

 private:
  using AllRanges = std::vector<const std::vector<ElementRange>*>;
  static size_t RowElements(const AllRanges& ranges, int r) {
    int64_t elements = 0;
    for (const auto* of_tensor : ranges) elements += (*of_tensor)[r].size();
    return static_cast<size_t>(elements);
  }
  static size_t Elements(const AllRanges& ranges, int replicas) {
    size_t elements = 0;
    for (int r = 0; r < replicas; ++r) elements += RowElements(ranges, r);
    return elements;
  }

  const AllRanges ranges_;
  const Storage storage_;
  std::vector<std::span<T>> rows_;
};

}  // namespace torus::parallel
