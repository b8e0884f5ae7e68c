#include "ops/indexing/bag_functors.h"
#include "ops/indexing/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {

void BagOfEach(const Tensor& starts, Tensor& bags) {
  ForEach("embedding_bag", bags.numel(), CurrentStream(bags.device()),
          ops::FindBag{Elements<int64_t>(starts), starts.numel(), MutableElements<int64_t>(bags)});
}

void MaxOfBags(const Tensor& x, const Tensor& starts, const Tensor& skip, Tensor& y, Tensor& at) {
  VisitCompute("embedding_bag", x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("embedding_bag", y.numel(), CurrentStream(y.device()),
            ops::LargestInBag<T>{Elements<T>(x), Elements<int64_t>(starts),
                                 ElementsOrNull<bool>(skip), x.dim(0), starts.numel(), x.dim(1),
                                 MutableElements<T>(y), MutableElements<int64_t>(at)});
  });
}

}  // namespace torus::cuda
