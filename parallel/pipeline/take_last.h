// TakeLast: what stands behind the outputs or inputs of a block, taken off.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

namespace torus::parallel {

// The last `count` of `all`, in their order; `all` keeps the others. It must have as many.
template <class T>
std::vector<T> TakeLast(std::vector<T>& all, size_t count) {
  const auto first = all.end() - static_cast<std::ptrdiff_t>(count);
  std::vector<T> last(std::make_move_iterator(first), std::make_move_iterator(all.end()));
  all.erase(first, all.end());
  return last;
}

}  // namespace torus::parallel
