#include "ops/pooling/cuda/pixel.h"
#include "ops/pooling/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/hand_over.h"

namespace torus::cuda {
namespace {

using ops::AverageWindow;

// The windows along both axes, of images with out_h x out_w outputs each.
struct Windows {
  ops::PoolImage image;
  int64_t out_h, out_w;
  const AverageWindow *rows, *columns;
};

// The divisor of one output; 1 if its window is empty, which gives 0.
template <class T>
__device__ T DivisorOf(const AverageWindow& row, const AverageWindow& column) {
  const bool empty = row.begin >= row.end || column.begin >= column.end;
  return empty ? T(1) : static_cast<T>(row.divisor * column.divisor);
}

// Computes one output. Each row of the window is summed before it is added to the total, as on the
// CPU.
template <class T>
struct AveragedWindow {
  Windows w;
  const T* in;
  T* out;
  __device__ void operator()(int64_t i) const {
    const PixelPlace at = PixelOf(i, w.out_h, w.out_w, w.image.c);
    const AverageWindow row = w.rows[at.y], column = w.columns[at.x];
    using Sum = SumOf<T>;
    Sum total = Sum(0);
    for (int64_t y = row.begin; y < row.end; ++y) {
      Sum line = Sum(0);
      for (int64_t x = column.begin; x < column.end; ++x)
        line += Widened(in[((at.n * w.image.h + y) * w.image.w + x) * w.image.c + at.c]);
      total += line;
    }
    out[i] = RoundedTo<T>(total / DivisorOf<Sum>(row, column));
  }
};

// The first of `count` windows that ends after pixel p; begins and ends never decrease.
__device__ inline int64_t FirstBehind(const AverageWindow* windows, int64_t count, int64_t p) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (windows[middle].end <= p)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The gradient of one input: the sum of its shares of all windows that contain it, in the order of
// the outputs.
template <class T>
struct SharesOfPixel {
  Windows w;
  const T* dout;
  T* din;
  __device__ void operator()(int64_t i) const {
    const PixelPlace at = PixelOf(i, w.image.h, w.image.w, w.image.c);
    const int64_t first_column = FirstBehind(w.columns, w.out_w, at.x);
    using Sum = SumOf<T>;
    Sum sum = Sum(0);
    for (int64_t y = FirstBehind(w.rows, w.out_h, at.y); y < w.out_h && w.rows[y].begin <= at.y;
         ++y)
      for (int64_t x = first_column; x < w.out_w && w.columns[x].begin <= at.x; ++x)
        sum += Widened(dout[((at.n * w.out_h + y) * w.out_w + x) * w.image.c + at.c]) /
               DivisorOf<Sum>(w.rows[y], w.columns[x]);
    din[i] = RoundedTo<T>(sum);
  }
};

// Runs Body<T>{windows, in, out} for every element of `out`.
template <template <class> class Body>
void ForEachOf(std::string_view op, const ops::AverageWindows& w, const Tensor& in, Tensor& out,
               StreamHandle stream) {
  const Tensor rows = HandOver<AverageWindow>(op, w.rows, out.device(), stream);
  const Tensor columns = HandOver<AverageWindow>(op, w.columns, out.device(), stream);
  const Windows there{w.image, std::ssize(w.rows), std::ssize(w.columns),
                      HandedOver<AverageWindow>(rows), HandedOver<AverageWindow>(columns)};
  VisitFloats(op, out.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, out.numel(), stream, Body<T>{there, Elements<T>(in), MutableElements<T>(out)});
  });
}

}  // namespace

void AveragePool(std::string_view op, const ops::AverageWindows& windows, const Tensor& x,
                 Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  ForEachOf<AveragedWindow>(op, windows, x, y, stream);
}

void AveragePoolBackward(const ops::AverageWindows& windows, const Tensor& dy, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  ForEachOf<SharesOfPixel>("average_pool", windows, dy, dx, stream);
}

}  // namespace torus::cuda
