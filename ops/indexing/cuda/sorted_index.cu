#include <utility>

#include "ops/indexing/cuda/sorted_index.h"
#include "runtime/cuda/elements.h"
#include "runtime/kernels.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

// How many of `count` ascending values come before `value`: the smaller ones and, with `equal`, the
// equal ones too.
__device__ inline int64_t CountBefore(const int64_t* values, int64_t count, int64_t value,
                                      bool equal) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (values[middle] < value || (equal && values[middle] == value))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Merges each two neighbouring ascending runs of `run` elements: an element's new position is its
// position in its run plus the number of elements of the other run before it.
struct MergeRuns {
  int64_t count, run;
  const int64_t *values, *order;
  int64_t *to_values, *to_order;
  __device__ void operator()(int64_t i) const {
    const int64_t begin = i / (2 * run) * (2 * run);
    const int64_t middle = begin + run < count ? begin + run : count;
    const int64_t end = middle + run < count ? middle + run : count;
    const bool first = i < middle;
    const int64_t others = first ? CountBefore(values + middle, end - middle, values[i], false)
                                 : CountBefore(values + begin, middle - begin, values[i], true);
    const int64_t to = first ? i + others : i - (middle - begin) + others;
    to_values[to] = values[i];
    to_order[to] = order[i];
  }
};

}  // namespace

// Merge sort, with one launch for each doubling of the runs.
SortedIndex SortIndex(std::string_view op, const Tensor& index, StreamHandle stream) {
  const int64_t count = index.numel();
  const auto empty = [&] { return Empty({count}, DType::kI64, index.device()); };
  SortedIndex sorted{index.View({count}), Arange(count, DType::kI64, index.device())};
  SortedIndex next{empty(), empty()};
  for (int64_t run = 1; run < count; run *= 2) {
    ForEach(op, count, stream,
            MergeRuns{count, run, Elements<int64_t>(sorted.values), Elements<int64_t>(sorted.order),
                      MutableElements<int64_t>(next.values), MutableElements<int64_t>(next.order)});
    std::swap(sorted, next);
    if (run == 1) next = {empty(), empty()};  // not into the index itself
  }
  return sorted;
}

}  // namespace torus::cuda
