#include "ops/cpu/softmax_rows.h"
#include "ops/softmax/kernels.h"
#include "runtime/rows.h"

namespace torus::cpu {
void Softmax(const Tensor& x, Tensor& y) {
  VisitCompute("softmax", x.dtype(), [&]<class T>(ComputeType<T>) {
    Softmax(RowCount(x), RowLength(x), x.data<T>(), y.mutable_data<T>());
  });
}

void SoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  VisitCompute("softmax", y.dtype(), [&]<class T>(ComputeType<T>) {
    SoftmaxBackward(RowCount(y), RowLength(y), y.data<T>(), dy.data<T>(), dx.mutable_data<T>());
  });
}

void LogSoftmax(const Tensor& x, Tensor& y) {
  VisitCompute("log_softmax", x.dtype(), [&]<class T>(ComputeType<T>) {
    LogSoftmax(RowCount(x), RowLength(x), x.data<T>(), y.mutable_data<T>());
  });
}

void LogSoftmaxBackward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  VisitCompute("log_softmax", y.dtype(), [&]<class T>(ComputeType<T>) {
    LogSoftmaxBackward(RowCount(y), RowLength(y), y.data<T>(), dy.data<T>(), dx.mutable_data<T>());
  });
}

}  // namespace torus::cpu
