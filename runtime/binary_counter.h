// BinaryCounter: combines values that come one after another in one fixed binary tree: neighbours
// first, then pairs of pairs, as the digits of a binary counter carry.
//
//   positions   0 1 2 3 4 5 6     (((0 1) (2 3)) ((4 5) 6))
//
// The tree over the first n positions does not depend on who combines which of them: where each
// holder has 2^k neighbours, beginning at a multiple of 2^k, combining what each of them took gives
// what one holder of all of them takes. So sums have the same bits however they are shared out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace torus {

template <class T>
class BinaryCounter {
 public:
  // The value of the next position. `merge`(T left, T right) gives that of both.
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

  // That of all positions, which it forgets; there must be one.
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

// The sum of `terms` in that tree; 0 without any.
template <class T>
T TreeSum(const std::vector<T>& terms) {
  BinaryCounter<T> counter;
  const auto add = [](T left, T right) { return left + right; };
  for (const T& term : terms) counter.Push(term, add);
  return counter.empty() ? T{} : counter.Take(add);
}

}  // namespace torus
