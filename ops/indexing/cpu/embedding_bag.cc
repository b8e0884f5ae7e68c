#include "ops/indexing/bag_functors.h"
#include "ops/indexing/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

void BagOfEach(const Tensor& starts, Tensor& bags) {
  const int64_t* const from = starts.data<int64_t>();
  for (int64_t b = 1; b < starts.numel(); ++b)
    Require(from[b - 1] <= from[b], "embedding_bag", "offset {} at position {} is below {} before",
            from[b], b, from[b - 1]);
  const ops::FindBag find{from, starts.numel(), bags.mutable_data<int64_t>()};
  ParallelFor(bags.numel(), 1 << 12, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) find(i);
  });
}

void MaxOfBags(const Tensor& x, const Tensor& starts, const Tensor& skip, Tensor& y, Tensor& at) {
  VisitCompute("embedding_bag", x.dtype(), [&]<class T>(ComputeType<T>) {
    const ops::LargestInBag<T> largest{x.data<T>(),
                                       starts.data<int64_t>(),
                                       skip.defined() ? skip.data<bool>() : nullptr,
                                       x.dim(0),
                                       starts.numel(),
                                       x.dim(1),
                                       y.mutable_data<T>(),
                                       at.mutable_data<int64_t>()};
    ParallelFor(y.numel(), 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) largest(e);
    });
  });
}

}  // namespace torus::cpu
