#include "ops/cuda/sorted_index.h"
#include "ops/sort/kernels.h"
#include "ops/sort/sort_key.h"
#include "runtime/cuda/elements.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

template <class T>
struct KeyOfElement {
  bool descending;
  const T* x;
  int64_t* keys;
  __device__ void operator()(int64_t i) const { keys[i] = ops::SortKeyOf(x[i], descending); }
};

}  // namespace

void SortRows(std::string_view op, const Tensor& x, bool descending, Tensor& order) {
  const StreamHandle stream = CurrentStream(order.device());
  Tensor keys(x.shape(), DType::kI64, x.device());
  VisitDType(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    ForEach(op, x.numel(), stream,
            KeyOfElement<T>{descending, Elements<T>(x), MutableElements<int64_t>(keys)});
  });
  Copy(SortIndex(op, keys, stream).order.Narrow(1, 0, order.dim(1)), order);
}

}  // namespace torus::cuda
