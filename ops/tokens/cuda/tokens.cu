#include "ops/tokens/cuda/tokens.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// How many of this lane and those before it count.
__device__ inline int CountUpToLane(bool counts) {
  int count = counts ? 1 : 0;
  for (unsigned by = 1; by < 32; by *= 2) {
    const int before = __shfl_up_sync(kWholeWarp, count, by);
    if (threadIdx.x % 32 >= by) count += before;
  }
  return count;
}

// One text for a block, as many tokens at a time as it has threads.
struct PositionsOfText {
  int64_t width, padding;
  const int64_t* ids;
  int64_t* positions;
  template <int kThreads>
  __device__ void Run(int64_t text) const {
    __shared__ int of_warps[kThreads / 32];
    const int warp = static_cast<int>(threadIdx.x / 32);
    int64_t before = padding;  // the last position so far
    for (int64_t first = 0; first < width; first += kThreads) {
      const int64_t t = first + threadIdx.x, at = text * width + t;
      const bool counts = t < width && ids[at] != padding;
      const int up_to_here = CountUpToLane(counts);
      if (threadIdx.x % 32 == 31) of_warps[warp] = up_to_here;
      __syncthreads();
      int64_t position = before + up_to_here;
      for (int w = 0; w < warp; ++w) position += of_warps[w];
      if (t < width) positions[at] = counts ? position : padding;
      for (int w = 0; w < kThreads / 32; ++w) before += of_warps[w];
      __syncthreads();
    }
  }
};

struct SeesToken {
  int64_t queries, width;
  const int64_t* tokens;
  bool* mask;
  __device__ void operator()(int64_t i) const {
    const Divided row = Divide(i, width), text = Divide(row.quotient, queries);
    const int64_t key = row.rest, query = width - queries + text.rest;
    mask[i] = key <= query && tokens[text.quotient * width + key] != 0;
  }
};

}  // namespace

void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions,
                            StreamHandle stream) {
  ForEachRow("positions", ids.dim(0), ids.dim(1), stream,
             PositionsOfText{ids.dim(1), padding, Elements<int64_t>(ids),
                             MutableElements<int64_t>(positions)});
}

void CausalMask(const Tensor& tokens, Tensor& mask, StreamHandle stream) {
  ForEach(
      "causal_mask", mask.numel(), stream,
      SeesToken{mask.dim(2), mask.dim(3), Elements<int64_t>(tokens), MutableElements<bool>(mask)});
}

}  // namespace torus::cuda
