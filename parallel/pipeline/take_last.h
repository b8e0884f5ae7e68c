// TakeLast: removes the skip tensors from the end of a block's inputs or outputs.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace torus::parallel {

// Removes the last `count` entries of `all`, which must have as many, and returns them in order.
template <class T>
std::vector<T> TakeLast(std::vector<T>& all, size_t count) {
  const auto first = all.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<T> last(std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
  return last;
}

}  // namespace torus::parallel
