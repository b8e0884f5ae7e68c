#include "runtime/tensor_split.h"

#include <algorithm>
#include <functional>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

void CheckSplit(const Shape& whole, const TensorSplit& split) {
  TORUS_CHECK(split.dim < whole.rank() && split.groups >= 1 && whole[split.dim] % split.groups == 0,
              "a tensor of shape {} cannot be split in {} runs along dimension {}", whole,
              split.groups, split.dim);
}

// Calls visit(range in the whole, start in the slice) for each run of a rank.
using VisitRuns = std::function<void(const IndexRange& of_whole, int64_t of_slice)>;
void ForEachRun(const Shape& whole, const TensorSplit& split, const TensorPlace& place,
                const VisitRuns& visit) {
  CheckSplit(whole, split);
  const int64_t run = whole[split.dim] / split.groups;
  const IndexRange part = PartOf(run, place);
  for (int64_t g = 0; g < split.groups; ++g)
    visit({g * run + part.begin, g * run + part.end}, g * part.size());
}

}  // namespace

IndexRange PartOf(int64_t count, const TensorPlace& place) {
  const int64_t each = count / place.size, more = count % place.size;
  const int64_t begin = place.rank * each + std::min<int64_t>(place.rank, more);
  return {begin, begin + each + (place.rank < more ? 1 : 0)};
}

Shape SliceShape(const Shape& whole, const TensorSplit& split, const TensorPlace& place) {
  CheckSplit(whole, split);
  Shape shape = whole;
  shape[split.dim] = split.groups * PartOf(whole[split.dim] / split.groups, place).size();
  return shape;
}

Tensor SliceOf(const Tensor& whole, const TensorSplit& split, const TensorPlace& place) {
  Tensor slice = Empty(SliceShape(whole.shape(), split, place), whole.dtype(), whole.device());
  ForEachRun(whole.shape(), split, place, [&](const IndexRange& run, int64_t at) {
    Tensor into = slice.Narrow(split.dim, at, run.size());
    if (whole.device() != kMetaDevice) Copy(whole.Narrow(split.dim, run.begin, run.size()), into);
  });
  return slice;
}

Tensor JoinSlices(const std::vector<Tensor>& slices, const Shape& whole, const TensorSplit& split) {
  TORUS_CHECK(!slices.empty());
  Tensor joined = Empty(whole, slices[0].dtype(), slices[0].device());
  const int size = static_cast<int>(slices.size());
  for (int rank = 0; rank < size; ++rank)
    ForEachRun(whole, split, {rank, size}, [&](const IndexRange& run, int64_t at) {
      Tensor into = joined.Narrow(split.dim, run.begin, run.size());
      Copy(slices[rank].Narrow(split.dim, at, run.size()), into);
    });
  return joined;
}

}  // namespace torus
