#include "ops/resampling/kernels.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/hand_over.h"

namespace torus::cuda {
namespace {

template <class T>
struct SumOfTaps {
  int64_t in, out, inner;
  const int64_t* first;
  const ops::AxisTap* taps;
  const T* x;
  T* y;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, inner), row = Divide(at.quotient, out);
    const T* const from = x + row.quotient * in * inner + at.rest;
    T sum = T(0);
    for (int64_t t = first[row.rest]; t < first[row.rest + 1]; ++t)
      sum += static_cast<T>(taps[t].weight) * from[taps[t].at * inner];
    y[i] = sum;
  }
};

}  // namespace

// An output has a word of the tables, and two for each of its taps.
void ApplyTaps(std::string_view op, const ops::AxisTaps& taps, const Tensor& x, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  if (y.numel() == 0) return;
  const Tensor first = HandOver<int64_t>(op, taps.first, y.device(), stream);
  const Tensor all = HandOver<ops::AxisTap>(op, taps.taps, y.device(), stream);
  VisitCompute(op, y.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, y.numel(), stream,
            SumOfTaps<T>{taps.in, taps.out(), x.dim(2), HandedOver<int64_t>(first),
                         HandedOver<ops::AxisTap>(all), Elements<T>(x), MutableElements<T>(y)});
  });
}

}  // namespace torus::cuda
