// Sums of arrays, element by element. They run at the speed of memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace torus::parallel {

// sum += terms, of one length.
template <class T>
void AddTo(std::span<T> sum, std::span<const T> terms) {
#pragma omp simd
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<T>(sum[i] + terms[i]);
}

// out = ((terms[0] + terms[1]) + ...), all of one length, block by block, so that the partial sums stay in the first
// cache. `out` may be one of the terms.
template <class T>
void SumInOrder(std::span<T> out, const std::vector<std::span<T>>& terms) {
  std::array<T, 2048> partial;
  for (size_t begin = 0; begin < out.size(); begin += partial.size()) {
    const size_t size = std::min(partial.size(), out.size() - begin);
    const T* left = terms[0].data() + begin;
    for (size_t r = 1; r < terms.size(); ++r) {
      const T* const right = terms[r].data() + begin;
      T* const sum = r + 1 == terms.size() ? out.data() + begin : partial.data();
#pragma omp simd
      for (size_t i = 0; i < size; ++i) sum[i] = static_cast<T>(left[i] + right[i]);
      left = sum;
    }
  }
}

}  // namespace torus::parallel
