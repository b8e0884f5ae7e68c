#include "ops/pooling/cpu/pool_rows.h"
#include "ops/pooling/kernels.h"

namespace torus::cpu {

void AveragePool(std::string_view op, const ops::AverageWindows& w, const Tensor& x, Tensor& y) {
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    AveragePool<T>(w.image, w.rows, w.columns, x.data<T>(), y.mutable_data<T>());
  });
}

void AveragePoolBackward(const ops::AverageWindows& w, const Tensor& dy, Tensor& dx) {
  VisitCompute("average_pool", dx.dtype(), [&]<class T>(ComputeType<T>) {
    AveragePoolBackward<T>(w.image, w.rows, w.columns, dy.data<T>(), dx.mutable_data<T>());
  });
}

void MaxPool(const PoolImage& image, const MaxPoolWindow& window, const Tensor& x, Tensor& y,
             Tensor& index) {
  VisitCompute("max_pool2d", x.dtype(), [&]<class T>(ComputeType<T>) {
    MaxPool(image, window, x.data<T>(), y.mutable_data<T>(), index.mutable_data<int32_t>());
  });
}

void MaxPoolBackward(const PoolImage& image, const ops::MaxPoolWindow& /*window*/, const Tensor& dy,
                     const Tensor& index, Tensor& dx) {
  VisitCompute("max_pool2d", dx.dtype(), [&]<class T>(ComputeType<T>) {
    MaxPoolBackward(image, dy.dim(1) * dy.dim(2), dy.data<T>(), index.data<int32_t>(),
                    dx.mutable_data<T>());
  });
}

}  // namespace torus::cpu
