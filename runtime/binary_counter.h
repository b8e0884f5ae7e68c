// BinaryCounter: combines a sequence of values in a fixed binary tree: first neighbours, then pairs
// of pairs, like the carries of a binary counter.
//
//   positions   0 1 2 3 4 5 6     (((0 1) (2 3)) ((4 5) 6))
//
// The tree over the first n positions does not depend on how the positions are distributed. If each
// holder combines 2^k consecutive values, starting at a multiple of 2^k, then combining the
// holders' results gives the same as combining all values in one place. So sums have the same bits
// for any such distribution.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace torus {

template <class T>
class BinaryCounter {
 public:
  // Appends the value of the next position. `merge`(T left, T right) combines two values.
  template <class Merge>
  void Push(T value, const Merge& merge) {
    int64_t leaves = 1;
    while (!nodes_.empty() && nodes_.back().leaves == leaves) {
      value = merge(std::move(nodes_.back().value), std::move(value));
      nodes_.pop_back();
      leaves *= 2;
    }
    nodes_.push_back({std::move(value), leaves});
  }

  // Returns the combination of all values and clears the counter, which must not be empty.
  template <class Merge>
  T Take(const Merge& merge) {
    T value = std::move(nodes_.back().value);
    for (nodes_.pop_back(); !nodes_.empty(); nodes_.pop_back())
      value = merge(std::move(nodes_.back().value), std::move(value));
    return value;
  }

  bool empty() const { return nodes_.empty(); }

 private:
  struct Node {
    T value;
    int64_t leaves;
  };
  std::vector<Node> nodes_;
};

// The sum of `terms` in that tree; 0 if there are none.
template <class T>
T TreeSum(const std::vector<T>& terms) {
  BinaryCounter<T> counter;
  const auto add = [](T left, T right) { return left + right; };
  for (const T& term : terms) counter.Push(term, add);
  return counter.empty() ? T{} : counter.Take(add);
}

}  // namespace torus
