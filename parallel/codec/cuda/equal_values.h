// Finds which of several equal values is at a rank: equal values are ordered by their indices. For
// kernel sources only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel/codec/cuda/digit_search.h"

namespace torus::parallel::cuda {

// Sets parts[part][slot] to the number of the part's values that have the slot's key.
template <class T>
__global__ void CountEqualsKernel(const T* values, int64_t count, bool aligned, int ranks,
                                  const Search* search, uint32_t* parts) {
  __shared__ uint32_t counters[kMostRanks * kLanes];  // one for each lane
  __shared__ uint32_t prefixes[kMostRanks];
  if (search->any_by_index == 0) return;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kLanes;
  const int rounded = RoundUp(search->slots);
  LoadPrefixes(*search, prefixes);
  const int64_t all_parts = (count - 1) / kPartValues + 1;
  for (int64_t part = blockIdx.x; part < all_parts; part += gridDim.x) {
    const int64_t first = part * kPartValues, left = count - first;
    for (int i = thread; i < kMostRanks * kLanes; i += kSearchThreads) counters[i] = 0;
    __syncthreads();
    const auto add = [&](T value) {
      const int slot = SlotOf(prefixes, rounded, KeyOf(FloatBits(value)));
      if (slot >= 0) atomicAdd(&counters[slot * kLanes + lane], 1u);
    };
    ForEachValue(values + first, left < kPartValues ? left : kPartValues, aligned, thread,
                 kSearchThreads, add);
    __syncthreads();
    if (thread < ranks) {
      uint32_t sum = 0;
      for (int i = 0; i < kLanes; ++i) sum += counters[thread * kLanes + (i + thread) % kLanes];
      parts[part * ranks + thread] = sum;
    }
    __syncthreads();  // the next part clears the counters
  }
}

// One block per rank finds the part that holds the rank's value, then the value.
template <class T>
__global__ void FindByIndexKernel(const T* values, int64_t count, int ranks, const uint32_t* parts,
                                  Search* search) {
  constexpr int64_t kOfThread = kPartValues / kSearchThreads;
  __shared__ int64_t part_found;
  __shared__ uint32_t place_in_part;
  const int rank = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  if (search->by_index[rank] == 0) return;
  const uint32_t slot = search->slot[rank], place = search->place[rank];
  const int64_t all_parts = (count - 1) / kPartValues + 1;
  const int64_t of_thread = (all_parts - 1) / kSearchThreads + 1;
  const int64_t first_part = thread * of_thread;
  const int64_t last_part = first_part + of_thread < all_parts ? first_part + of_thread : all_parts;
  uint32_t sum = 0;
  for (int64_t p = first_part; p < last_part; ++p) sum += parts[p * ranks + slot];
  uint32_t all = 0;
  uint32_t below = torus::cuda::SumUpToThread<kSearchThreads>(sum, all) - sum;
  if (below <= place && place < below + sum) {
    int64_t p = first_part;
    while (place - below >= parts[p * ranks + slot]) below += parts[p++ * ranks + slot];
    part_found = p;
    place_in_part = place - below;
  }
  __syncthreads();
  const uint32_t key = search->prefix[slot], wanted = place_in_part;
  const int64_t first = part_found * kPartValues + thread * kOfThread;
  const int64_t last = first + kOfThread < count ? first + kOfThread : count;
  uint32_t equals = 0;
  for (int64_t i = first; i < last; ++i) equals += KeyOf(FloatBits(values[i])) == key;
  uint32_t before = torus::cuda::SumUpToThread<kSearchThreads>(equals, all) - equals;
  if (wanted < before || wanted >= before + equals) return;
  int64_t i = first;
  while (KeyOf(FloatBits(values[i])) != key || before++ != wanted) ++i;
  search->index[rank] = static_cast<uint32_t>(i);
}

// Sets the indices of the ranks that have by_index. Runs after FindKeys. `parts` is laid out as in
// scratch_layout.h.
template <class T>
void FindIndices(const T* values, int64_t count, SortqFormat format, Search* search,
                 uint32_t* parts, StreamHandle stream) {
  constexpr int64_t kMostBlocks = 1024;
  if (count == 0) return;
  const int ranks = 2 * format.buckets();
  const unsigned blocks = static_cast<unsigned>(std::min(kMostBlocks, PartsOf(count)));
  torus::cuda::Launch("sortq", blocks, kSearchThreads, 0, stream, CountEqualsKernel<T>, values,
                      count, IsAlignedForFour(values), ranks, search, parts);
  torus::cuda::Launch("sortq", static_cast<unsigned>(ranks), kSearchThreads, 0, stream,
                      FindByIndexKernel<T>, values, count, ranks, parts, search);
}

}  // namespace torus::parallel::cuda
