// Element-wise sums of arrays, limited by memory bandwidth.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

namespace torus::parallel {

// Integers wrap around, as in MPI and NCCL.
template <class T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
  } else {
    return a + b;
  }
}

// sum += terms, of the same length.
template <class T>
void AddTo(std::span<T> sum, std::span<const T> terms) {
#pragma omp simd
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = Plus(sum[i], terms[i]);
}

// Elements [begin, begin + size) of the sum that SumInPairs computes. For one term it returns the
// term's own memory, otherwise `out`. `room` has kSumBlock elements for each level of the tree.
constexpr size_t kSumBlock = 2048;
template <class T>
const T* SumBlockInPairs(std::span<const std::span<T>> terms, size_t begin, size_t size, T* room,
                         T* out) {
  if (terms.size() == 1) return terms[0].data() + begin;
  const size_t half = std::bit_floor(terms.size() - 1);
  const T* const left = SumBlockInPairs(terms.first(half), begin, size, room, room);
  T* const next = room + kSumBlock;
  const T* const right = SumBlockInPairs(terms.subspan(half), begin, size, next, next);
#pragma omp simd
  for (size_t i = 0; i < size; ++i) out[i] = Plus(left[i], right[i]);
  return out;
}

// out = the terms summed in pairs, then pairs of pairs (runtime/binary_counter.h): ((t0 + t1) + (t2
// + t3)) + ... There are at least two terms, all of the same length. The sum goes block by block,
// so that partial sums stay in the L1 cache. `out` may be one of the terms.
template <class T>
void SumInPairs(std::span<T> out, const std::vector<std::span<T>>& terms) {
  std::vector<T> room(kSumBlock * (std::bit_width(terms.size()) + 1));
  for (size_t begin = 0; begin < out.size(); begin += kSumBlock)
    SumBlockInPairs<T>(terms, begin, std::min(kSumBlock, out.size() - begin), room.data(),
                       out.data() + begin);
}

}  // namespace torus::parallel
