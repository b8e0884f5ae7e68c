#include <vector>

#include "ops/indexing/kernels.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
#include "runtime/stream.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr int64_t kPart = 4096;  // elements per block
constexpr int kThreads = 256;

// A part of the mask, which a block reads in pieces of as many elements as it has threads.
struct PartOfMask {
  int64_t count;
  const bool* mask;
  __device__ int64_t begin(int64_t part) const { return part * kPart; }
  __device__ int64_t end(int64_t part) const {
    return count < (part + 1) * kPart ? count : (part + 1) * kPart;
  }
  __device__ bool Holds(int64_t i, int64_t end) const { return i < end && mask[i]; }
};

struct CountPart {
  PartOfMask of;
  int64_t* counts;
  template <int threads>
  __device__ void Run(int64_t part) const {
    int64_t count = 0;
    const int64_t end = of.end(part);
    for (int64_t i = of.begin(part) + threadIdx.x; i < end; i += threads) count += of.mask[i];
    count = CombineBlock<threads>(count, Plus());
    if (threadIdx.x == 0) counts[part] = count;
  }
};

struct WritePlaces {
  PartOfMask of;
  int rank;
  int64_t sizes[kMaxRank];
  const int64_t* firsts;  // how many hold before each part
  int64_t* places;

  __device__ void Write(int64_t i, int64_t* place) const {
    for (int d = rank - 1; d >= 0; --d) {
      const Divided at = Divide(i, sizes[d]);
      place[d] = at.rest;
      i = at.quotient;
    }
  }
  template <int threads>
  __device__ void Run(int64_t part) const {
    int64_t before = firsts[part];
    int all;
    const int64_t end = of.end(part);
    for (int64_t first = of.begin(part); first < end; first += threads) {
      const int64_t i = first + threadIdx.x;
      const bool holds = of.Holds(i, end);
      const int upto = SumUpToThread<threads>(holds ? 1 : 0, all);
      if (holds) Write(i, places + (before + upto - 1) * rank);
      before += all;
    }
  }
};

// Sums of all numbers before each; the sum of all goes to `all`.
std::vector<int64_t> SumsBefore(const std::vector<int64_t>& counts, int64_t& all) {
  std::vector<int64_t> sums;
  all = 0;
  for (int64_t count : counts) {
    sums.push_back(all);
    all += count;
  }
  return sums;
}

}  // namespace

// The number of places is known once the parts are counted, so the CPU waits for that.
void Nonzero(const Tensor& mask, Tensor& places) {
  const StreamHandle stream = CurrentStream(mask.device());
  const int64_t parts = (mask.numel() + kPart - 1) / kPart;
  const PartOfMask of{mask.numel(), Elements<bool>(mask)};
  Tensor counts({parts}, DType::kI64, mask.device());
  ForEachBlock<kThreads>("nonzero", parts, stream, CountPart{of, MutableElements<int64_t>(counts)});
  int64_t all = 0;
  const std::vector<int64_t> sums = SumsBefore(ToVector<int64_t>(counts), all);
  places = Tensor({all, mask.rank()}, DType::kI64, mask.device());
  if (all == 0) return;
  const Tensor firsts = FromVector(sums, {parts}).To(mask.device());
  WritePlaces write{
      of, mask.rank(), {}, Elements<int64_t>(firsts), MutableElements<int64_t>(places)};
  for (int d = 0; d < mask.rank(); ++d) write.sizes[d] = mask.dim(d);
  ForEachBlock<kThreads>("nonzero", parts, stream, write);
}

}  // namespace torus::cuda
