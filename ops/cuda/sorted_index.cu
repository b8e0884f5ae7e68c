#include <utility>

#include "ops/cuda/sorted_index.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
#include "runtime/kernels.h"
//
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// How many of `count` ascending values come before `value`: the smaller ones and, with `equal`, the
// equal ones too.
template <class Count>
__device__ Count CountBefore(const int64_t* values, Count count, int64_t value, bool equal) {
  Count low = 0, high = count;
  while (low < high) {
    const Count middle = low + (high - low) / 2;
    if (values[middle] < value || (equal && values[middle] == value))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Where element i goes when each two neighbouring ascending runs of `run` elements are merged: its
// position in its run plus the number of elements of the other run before it.
template <class Count>
__device__ Count MergedPlace(const int64_t* values, Count count, Count run, Count i) {
  const Count begin = i / (2 * run) * (2 * run);
  const Count middle = begin + run < count ? begin + run : count;
  const Count end = middle + run < count ? middle + run : count;
  return i < middle ? i + CountBefore<Count>(values + middle, end - middle, values[i], false)
                    : i - (middle - begin) +
                          CountBefore<Count>(values + begin, middle - begin, values[i], true);
}

// Of rows of `count` elements.
struct MergeRuns {
  int64_t count, run;
  const int64_t *values, *order;
  int64_t *to_values, *to_order;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, count);
    const int64_t row = at.quotient * count;
    const int64_t to = row + MergedPlace(values + row, count, run, at.rest);
    to_values[to] = values[i];
    to_order[to] = order[i];
  }
};

// Elements that a block sorts in shared memory.
constexpr int kTile = 2048;

// Sorts each tile of the values, with their positions. A row of `count` elements has `tiles` of
// them.
struct SortTile {
  int64_t count, tiles;
  const int64_t* values;
  int64_t *to_values, *to_order;
  template <int kThreads>
  __device__ void Run(int64_t number) const {
    __shared__ int64_t kept[2][kTile];
    __shared__ uint16_t places[2][kTile];
    const Divided tile = Divide(number, tiles);
    const int64_t first = tile.rest * kTile, begin = tile.quotient * count + first;
    const int own = static_cast<int>(count - first < kTile ? count - first : kTile);
    for (int i = static_cast<int>(threadIdx.x); i < own; i += kThreads) {
      kept[0][i] = values[begin + i];
      places[0][i] = static_cast<uint16_t>(i);
    }
    int from = 0;
    for (int run = 1; run < own; run *= 2, from = 1 - from) {
      __syncthreads();
      for (int i = static_cast<int>(threadIdx.x); i < own; i += kThreads) {
        const int to = MergedPlace(kept[from], own, run, i);
        kept[1 - from][to] = kept[from][i];
        places[1 - from][to] = places[from][i];
      }
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < own; i += kThreads) {
      to_values[begin + i] = kept[from][i];
      to_order[begin + i] = first + places[from][i];
    }
    __syncthreads();  // before the block takes its next tile
  }
};

}  // namespace

// Merge sort: tiles in one launch, then one for each doubling of the runs.
SortedIndex SortIndex(std::string_view op, const Tensor& index, StreamHandle stream) {
  const int64_t count = index.dim(-1);
  const auto empty = [&] {
    return SortedIndex{Empty(index.shape(), DType::kI64, index.device()),
                       Empty(index.shape(), DType::kI64, index.device())};
  };
  SortedIndex sorted = empty(), next;
  if (index.numel() == 0) return sorted;
  const int64_t tiles = (count + kTile - 1) / kTile;
  ForEachBlock<512>(
      op, index.numel() / count * tiles, stream,
      SortTile{count, tiles, Elements<int64_t>(index), MutableElements<int64_t>(sorted.values),
               MutableElements<int64_t>(sorted.order)});
  for (int64_t run = kTile; run < count; run *= 2) {
    if (run == kTile) next = empty();
    ForEach(op, index.numel(), stream,
            MergeRuns{count, run, Elements<int64_t>(sorted.values), Elements<int64_t>(sorted.order),
                      MutableElements<int64_t>(next.values), MutableElements<int64_t>(next.order)});
    std::swap(sorted, next);
  }
  return sorted;
}

}  // namespace torus::cuda
