// One pass over many tensors: the elements of all of them are one range that the thread team
// shares.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/parallel_for.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// The elements of each item's gradient.
template <class Item>
std::vector<int64_t> SizesOf(const std::vector<Item>& items) {
  std::vector<int64_t> sizes;
  for (const Item& item : items) sizes.push_back(item.gradient.numel());
  return sizes;
}

// The elements of a contiguous tensor from `begin` on; null if it is undefined.
template <class T>
T* At(Tensor& tensor, int64_t begin) {
  return tensor.defined() ? tensor.mutable_data<T>() + begin : nullptr;
}

// The fewest elements for which waking a thread is worth it.
inline constexpr int64_t kPieceGrain = 1 << 15;

// Calls body(tensor, begin, end) over pieces that cover elements [0, sizes[tensor]) of every tensor
// once. A model has many small tensors and a few large ones; sharing out elements instead of
// tensors gives all threads equal work.
template <class Body>
void ForEachPiece(std::span<const int64_t> sizes, const Body& body, int64_t grain = kPieceGrain) {
  std::vector<int64_t> ends;  // of each tensor in that range
  int64_t total = 0;
  for (int64_t size : sizes) ends.push_back(total += size);
  ParallelFor(total, grain, [&](int64_t begin, int64_t end) {
    size_t tensor = std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin();
    for (int64_t at = begin; at < end; ++tensor) {
      const int64_t start = ends[tensor] - sizes[tensor], stop = std::min(end, ends[tensor]);
      if (at < stop) body(tensor, at - start, stop - start);
      at = stop;
    }
  });
}

}  // namespace torus::parallel
