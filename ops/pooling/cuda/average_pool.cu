#include "ops/pooling/cuda/pixel.h"
#include "ops/pooling/cuda/pooling.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/hand_over.h"

namespace torus::cuda {
namespace {

using ops::AverageWindow;
using ops::PoolImage;

// Of one output, 1 where its window is empty: it gives 0.
template <class T>
__device__ T DivisorOf(const AverageWindow& row, const AverageWindow& column) {
  const bool empty = row.begin >= row.end || column.begin >= column.end;
  return empty ? T(1) : static_cast<T>(row.divisor * column.divisor);
}

// One output. A line of the window is summed before it adds to the total, as on the CPU.
template <class T>
struct AveragedWindow {
  PoolImage image;
  int64_t out_h, out_w;
  const AverageWindow *rows, *columns;
  const T* in;
  T* out;
  __device__ void operator()(int64_t i) const {
    const PixelPlace at = PixelOf(i, out_h, out_w, image.c);
    const AverageWindow row = rows[at.y], column = columns[at.x];
    T total = T(0);
    for (int64_t y = row.begin; y < row.end; ++y) {
      T line = T(0);
      for (int64_t x = column.begin; x < column.end; ++x)
        line += in[((at.n * image.h + y) * image.w + x) * image.c + at.c];
      total += line;
    }
    out[i] = total / DivisorOf<T>(row, column);
  }
};

// The first of `count` windows that ends behind pixel p; neither begins nor ends ever go back.
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

// One input's gradient: the shares of all windows that it lies in, in the order of the outputs.
template <class T>
struct SharesOfPixel {
  PoolImage image;
  int64_t out_h, out_w;
  const AverageWindow *rows, *columns;
  const T* dout;
  T* din;
  __device__ void operator()(int64_t i) const {
    const PixelPlace at = PixelOf(i, image.h, image.w, image.c);
    const int64_t first_column = FirstBehind(columns, out_w, at.x);
    T sum = T(0);
    for (int64_t y = FirstBehind(rows, out_h, at.y); y < out_h && rows[y].begin <= at.y; ++y)
      for (int64_t x = first_column; x < out_w && columns[x].begin <= at.x; ++x)
        sum += dout[((at.n * out_h + y) * out_w + x) * image.c + at.c] /
               DivisorOf<T>(rows[y], columns[x]);
    din[i] = sum;
  }
};

}  // namespace

void AveragePool(std::string_view op, const ops::AverageWindows& w, const Tensor& x, Tensor& y,
                 StreamHandle stream) {
  const Tensor rows = HandOver<AverageWindow>(op, w.rows, y.device(), stream);
  const Tensor columns = HandOver<AverageWindow>(op, w.columns, y.device(), stream);
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, y.numel(), stream,
            AveragedWindow<T>{w.image, y.dim(1), y.dim(2), HandedOver<AverageWindow>(rows),
                              HandedOver<AverageWindow>(columns), Elements<T>(x),
                              MutableElements<T>(y)});
  });
}

void AveragePoolBackward(const ops::AverageWindows& w, const Tensor& dy, Tensor& dx,
                         StreamHandle stream) {
  constexpr const char* kOp = "average_pool";
  const Tensor rows = HandOver<AverageWindow>(kOp, w.rows, dx.device(), stream);
  const Tensor columns = HandOver<AverageWindow>(kOp, w.columns, dx.device(), stream);
  VisitCompute(kOp, dx.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(kOp, dx.numel(), stream,
            SharesOfPixel<T>{w.image, dy.dim(1), dy.dim(2), HandedOver<AverageWindow>(rows),
                             HandedOver<AverageWindow>(columns), Elements<T>(dy),
                             MutableElements<T>(dx)});
  });
}

}  // namespace torus::cuda
