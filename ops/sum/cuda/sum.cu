#include "ops/sum/kernels.h"
#include "ops/sum/running_type.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/column_sums.h"

namespace torus::cuda {

void SumMiddle(std::string_view op, const Tensor& x, double divisor, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    SumColumns(op, x.dim(0), x.dim(1), x.dim(2), LoadFrom<T>{Elements<T>(x)}, divisor,
               MutableElements<T>(y), y.device(), stream);
  });
}

}  // namespace torus::cuda
