#include "ops/recurrent/kernels.h"
#include "ops/recurrent/lstm_functors.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {

void LstmCell(const Tensor& x, const Tensor& s, const Tensor& c, Tensor& gates, Tensor& out) {
  VisitCompute("lstm_cell", c.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("lstm_cell", c.numel(), CurrentStream(out.device()),
            ops::LstmForward<T>{c.dim(1), c.numel(), Elements<T>(x), Elements<T>(s), Elements<T>(c),
                                MutableElements<T>(gates), MutableElements<T>(out)});
  });
}

void LstmCellBackward(const Tensor& gates, const Tensor& c, const Tensor& out, const Tensor& dout,
                      Tensor& dx, Tensor& dc) {
  VisitCompute("lstm_cell", c.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("lstm_cell", c.numel(), CurrentStream(dx.device()),
            ops::LstmBackward<T>{c.dim(1), c.numel(), Elements<T>(gates), Elements<T>(c),
                                 Elements<T>(out), Elements<T>(dout), MutableElements<T>(dx),
                                 MutableElements<T>(dc)});
  });
}

}  // namespace torus::cuda
