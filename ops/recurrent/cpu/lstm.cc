#include "ops/recurrent/cpu/lstm_vector.h"
#include "ops/recurrent/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// Runs rows [begin, end) by threads: elements are independent, so the split changes no bits.
template <class F>
void ForRows(const Tensor& c, const F& rows) {
  const int64_t hidden = c.dim(1);
  if (hidden > 0) ParallelFor(c.dim(0), (1 << 12) / hidden + 1, rows);
}

// The plain functor on those rows.
template <class Functor>
void Plain(const Functor& cell, int64_t begin, int64_t end) {
  for (int64_t e = begin * cell.hidden; e < end * cell.hidden; ++e) cell(e);
}

}  // namespace

void LstmCell(const Tensor& x, const Tensor& s, const Tensor& c, Tensor& gates, Tensor& out) {
  VisitCompute("lstm_cell", c.dtype(), [&]<class T>(ComputeType<T>) {
    const ops::LstmForward<T> cell{c.dim(1),
                                   c.numel(),
                                   x.data<T>(),
                                   s.data<T>(),
                                   c.data<T>(),
                                   gates.mutable_data<T>(),
                                   out.mutable_data<T>()};
    ForRows(c, [cell](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>)
        LstmForwardRows(cell, begin, end);
      else
        Plain(cell, begin, end);
    });
  });
}

void LstmCellBackward(const Tensor& gates, const Tensor& c, const Tensor& out, const Tensor& dout,
                      Tensor& dx, Tensor& dc) {
  VisitCompute("lstm_cell", c.dtype(), [&]<class T>(ComputeType<T>) {
    const ops::LstmBackward<T> cell{
        c.dim(1),      c.numel(),      gates.data<T>(),      c.data<T>(),
        out.data<T>(), dout.data<T>(), dx.mutable_data<T>(), dc.mutable_data<T>()};
    ForRows(c, [cell](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>)
        LstmBackwardRows(cell, begin, end);
      else
        Plain(cell, begin, end);
    });
  });
}

}  // namespace torus::cpu
