#include <limits>

#include "ops/pooling/cuda/pixel.h"
#include "ops/pooling/kernels.h"
#include "ops/pooling/max_taps.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

using ops::MaxPoolWindow;
using ops::MaxTaps;
using ops::PoolAxis;
using ops::PoolImage;

template <class T>
struct LargestOfWindow {
  PoolImage image;
  MaxPoolWindow window;
  const T* in;
  T* out;
  int32_t* index;
  __device__ void operator()(int64_t i) const {
    const PixelPlace at = PixelOf(i, window.out_h, window.out_w, image.c);
    const MaxTaps rows(window.rows, at.y, image.h), columns(window.columns, at.x, image.w);
    const T* const plane = in + at.n * image.h * image.w * image.c + at.c;
    SumOf<T> best = -std::numeric_limits<SumOf<T>>::infinity();
    int64_t where = rows.empty() || columns.empty() ? -1 : rows.first * image.w + columns.first;
    for (int64_t y = rows.first; y < rows.end; y += rows.step) {
      for (int64_t x = columns.first; x < columns.end; x += columns.step) {
        const SumOf<T> v = Widened(plane[(y * image.w + x) * image.c]);
        if (!(v > best) && v == v) continue;  // a NaN is taken, then only replaced by another
        best = v;
        where = y * image.w + x;
      }
    }
    out[i] = RoundedTo<T>(best);
    index[i] = static_cast<int32_t>(where);
  }
};

// The outputs along one axis whose windows contain pixel p, in ascending order.
struct OutputsOfPixel {
  const PoolAxis& axis;
  int64_t count, p;
  // The output that reads pixel p at tap `tap`, or -1.
  __device__ int64_t operator()(int64_t tap) const {
    const int64_t start = p + axis.padding - tap * axis.dilation;
    if (start < 0) return -1;
    const Divided out = Divide(start, axis.stride);
    return out.rest == 0 && out.quotient < count ? out.quotient : -1;
  }
};

// The gradient of one input: the sum of the gradients of the outputs that took it, in order. A
// later tap of the window belongs to an earlier output.
template <class T>
struct PassedBack {
  PoolImage image;
  MaxPoolWindow window;
  const T* dout;
  const int32_t* index;
  T* din;
  __device__ void operator()(int64_t i) const {
    const PixelPlace at = PixelOf(i, image.h, image.w, image.c);
    const int64_t here = at.y * image.w + at.x;
    const OutputsOfPixel rows{window.rows, window.out_h, at.y};
    const OutputsOfPixel columns{window.columns, window.out_w, at.x};
    SumOf<T> sum = 0;
    for (int64_t a = window.rows.kernel - 1; a >= 0; --a) {
      const int64_t y = rows(a);
      for (int64_t b = window.columns.kernel - 1; y >= 0 && b >= 0; --b) {
        const int64_t x = columns(b);
        if (x < 0) continue;
        const int64_t from = ((at.n * window.out_h + y) * window.out_w + x) * image.c + at.c;
        if (index[from] == here) sum += Widened(dout[from]);
      }
    }
    din[i] = RoundedTo<T>(sum);
  }
};

}  // namespace

void MaxPool(const PoolImage& image, const MaxPoolWindow& window, const Tensor& x, Tensor& y,
             Tensor& index) {
  const StreamHandle stream = CurrentStream(y.device());
  VisitFloats("max_pool2d", x.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("max_pool2d", y.numel(), stream,
            LargestOfWindow<T>{image, window, Elements<T>(x), MutableElements<T>(y),
                               MutableElements<int32_t>(index)});
  });
}

void MaxPoolBackward(const PoolImage& image, const MaxPoolWindow& window, const Tensor& dy,
                     const Tensor& index, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  VisitFloats("max_pool2d", dx.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach("max_pool2d", dx.numel(), stream,
            PassedBack<T>{image, window, Elements<T>(dy), Elements<int32_t>(index),
                          MutableElements<T>(dx)});
  });
}

}  // namespace torus::cuda
