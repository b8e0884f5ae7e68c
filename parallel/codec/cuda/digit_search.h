// Finds the values at a few ranks by a radix search: four passes over all values. Each pass counts
// the next eight bits of the keys whose prefix matches that of a wanted value. Counts are integers,
// so the order of additions does not matter. For kernel sources only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "parallel/codec/cuda/eight.h"
#include "parallel/codec/cuda/scratch_layout.h"
#include "parallel/codec/cuda/sort_key.h"
//
#include "runtime/cuda/block.h"

namespace torus::parallel::cuda {

inline constexpr int kSearchThreads = 256;
inline constexpr int kDigitBits = 8;
inline constexpr int kFirstShift = 24;  // shift of a key to its first digit
inline constexpr int kLanes = 32;

// The smallest power of two that is at least `slots`.
__device__ inline int RoundUp(uint32_t slots) {
  int rounded = 1;
  while (rounded < static_cast<int>(slots)) rounded *= 2;
  return rounded;
}

// Loads the prefixes of all slots into shared memory, padded with a number that no finite value
// has.
__device__ inline void LoadPrefixes(const Search& search, uint32_t* prefixes) {
  const int slots = static_cast<int>(search.slots), thread = static_cast<int>(threadIdx.x);
  if (thread < kMostRanks) prefixes[thread] = thread < slots ? search.prefix[thread] : 0xffffffffu;
}

// The slot of `prefix`, or -1 if there is none. `rounded` is RoundUp of the number of slots.
__device__ inline int SlotOf(const uint32_t* prefixes, int rounded, uint32_t prefix) {
  int at = 0;
  for (int step = rounded / 2; step > 0; step /= 2)
    if (prefixes[at + step] <= prefix) at += step;
  return prefixes[at] == prefix ? at : -1;
}

// Runs in one block.
static __global__ void BeginSearchKernel(SortqFormat format, int64_t count, Search* search,
                                         uint32_t* totals) {
  const int rank = static_cast<int>(threadIdx.x), ranks = 2 * format.buckets();
  for (int i = rank; i < ranks * kDigits; i += static_cast<int>(blockDim.x)) totals[i] = 0;
  if (rank < ranks) {
    const int64_t place =
        rank % 2 == 0 ? format.FirstRank(count, rank / 2) : format.LastRank(count, rank / 2);
    search->slot[rank] = 0;
    search->place[rank] = static_cast<uint32_t>(place);
    search->by_index[rank] = search->index[rank] = 0;
  }
  if (rank > 0) return;
  search->slots = 1;
  search->prefix[0] = 0;
  search->any_by_index = search->non_finite = 0;
}

// Counts the values of each slot by their digit at `shift` into totals[slot][digit]. Each counter
// has as many copies as fit. In the first pass, where most values share a few digits, and in all
// passes of a constant tensor, each lane has its own copy, so lanes of a warp do not wait for each
// other.
template <class T>
__global__ void CountDigitsKernel(const T* values, int64_t count, bool aligned, int shift,
                                  Search* search, uint32_t* totals) {
  __shared__ uint32_t counters[kMostRanks * kDigits];
  __shared__ uint32_t prefixes[kMostRanks];
  const int thread = static_cast<int>(threadIdx.x), slots = static_cast<int>(search->slots);
  const int rounded = RoundUp(search->slots), copies = kMostRanks / rounded;
  for (int i = thread; i < kMostRanks * kDigits; i += kSearchThreads) counters[i] = 0;
  LoadPrefixes(*search, prefixes);
  __syncthreads();
  const int copy = thread % copies;
  bool finite = true;
  const auto add = [&](T value) {
    const uint32_t bits = FloatBits(value), digits = KeyOf(bits) >> shift;
    finite = finite && IsFiniteBits(bits);
    const int slot = SlotOf(prefixes, rounded, digits >> kDigitBits);
    if (slot < 0) return;
    const int digit = static_cast<int>(digits % kDigits);
    atomicAdd(&counters[(slot * kDigits + digit) * copies + copy], 1u);
  };
  const int64_t first = int64_t{blockIdx.x} * kSearchThreads + thread;
  ForEachValue(values, count, aligned, first, int64_t{gridDim.x} * kSearchThreads, add);
  if (!finite) atomicMax(&search->non_finite, 1u);
  __syncthreads();
  for (int i = thread; i < slots * kDigits; i += kSearchThreads) {
    uint32_t sum = 0;
    for (int c = 0; c < copies; ++c) sum += counters[i * copies + (c + i) % copies];
    if (sum != 0) atomicAdd(&totals[i], sum);
  }
}

// Runs in one block with a warp for each rank: finds the rank's digit at `shift`, makes slots of
// the longer prefixes, and clears totals.
static __global__ void ChooseDigitsKernel(int ranks, int shift, Search* search, uint32_t* totals) {
  constexpr int kOfLane = kDigits / kLanes;
  __shared__ uint32_t prefixes[kMostRanks], places[kMostRanks];
  const int thread = static_cast<int>(threadIdx.x), rank = thread / kLanes, lane = thread % kLanes;
  const uint32_t slot = search->slot[rank], place = search->place[rank];
  uint32_t counts[kOfLane], sum = 0;
  for (int d = 0; d < kOfLane; ++d)
    sum += counts[d] = totals[static_cast<int>(slot) * kDigits + lane * kOfLane + d];
  const uint32_t to_here = torus::cuda::SumUpToLane(sum);
  uint32_t below = to_here - sum;
  if (below <= place && place < to_here) {
    int d = 0;
    while (place - below >= counts[d]) below += counts[d++];
    places[rank] = place - below;  // not to search: other lanes may still read the old one there
    prefixes[rank] = search->prefix[slot] << kDigitBits | static_cast<uint32_t>(lane * kOfLane + d);
  }
  __syncthreads();
  for (int i = thread; i < ranks * kDigits; i += ranks * kLanes) totals[i] = 0;
  if (thread >= ranks) return;
  // Ranks ascend, so their prefixes do too.
  uint32_t number = 0;
  for (int r = 1; r <= thread; ++r) number += prefixes[r] != prefixes[r - 1];
  search->slot[thread] = number;
  search->prefix[number] = prefixes[thread];
  search->place[thread] = places[thread];
  if (thread == ranks - 1) search->slots = number + 1;
  if (shift > 0) return;
  // If a cut splits equal values, their indices say which lie below it. For zeros the index says
  // which sign is used.
  const bool cuts_equals = thread > 0 && thread % 2 == 0 && places[thread] > 0;
  search->by_index[thread] = cuts_equals || prefixes[thread] == kKeyOfZero;
  if (search->by_index[thread]) atomicMax(&search->any_by_index, 1u);
}

// Finds the key of each rank and its place among equal values. `totals` is laid out as in
// scratch_layout.h.
template <class T>
void FindKeys(const T* values, int64_t count, SortqFormat format, Search* search, uint32_t* totals,
              StreamHandle stream) {
  constexpr int64_t kValuesOfBlock = 1 << 14, kMostBlocks = 1024;
  const int ranks = 2 * format.buckets();
  torus::cuda::Launch("sortq", 1, 1024, 0, stream, BeginSearchKernel, format, count, search,
                      totals);
  if (count == 0) return;
  const unsigned blocks =
      static_cast<unsigned>(std::min(kMostBlocks, (count - 1) / kValuesOfBlock + 1));
  const bool aligned = IsAlignedForFour(values);
  for (int shift = kFirstShift; shift >= 0; shift -= kDigitBits) {
    torus::cuda::Launch("sortq", blocks, kSearchThreads, 0, stream, CountDigitsKernel<T>, values,
                        count, aligned, shift, search, totals);
    torus::cuda::Launch("sortq", 1, static_cast<unsigned>(ranks * kLanes), 0, stream,
                        ChooseDigitsKernel, ranks, shift, search, totals);
  }
}

}  // namespace torus::parallel::cuda
