#include "ops/convolution/cuda/conv_places.h"
#include "ops/convolution/cuda/depthwise.h"
#include "ops/convolution/cuda/depthwise_tiles.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "conv2d";

// One output, or `backward` the gradient of one input; neighbouring threads take neighbouring
// channels.
template <class T, bool backward>
struct DepthwiseSum {
  ConvWay<backward> way;
  const T *in, *weight;
  const SumOf<T>* bias;  // may be null
  T* out;
  __device__ void operator()(int64_t at) const {
    const ConvGeometry& g = way.g;
    const Divided place = Divide(at, g.c);
    const int64_t c = place.rest;
    const ConvPixel here = way.PixelAt(place.quotient);
    SumOf<T> sum = bias == nullptr ? SumOf<T>(0) : bias[c];
    for (int64_t a = 0; a < g.kh; ++a) {
      for (int64_t b = 0; b < g.kw; ++b) {
        const int64_t pixel = way.PixelRead(here, a, b);
        if (pixel >= 0)
          sum += Widened(in[pixel * g.c + c]) * Widened(weight[(c * g.kh + a) * g.kw + b]);
      }
    }
    out[at] = RoundedTo<T>(sum);
  }
};

// One part of a weight's gradient: 64 output pixels of a tap and a channel, at (part, tap, c).
template <class T>
struct DepthwiseWeightPart {
  ConvGeometry g;
  const T *x, *dy;
  SumOf<T>* out;
  __device__ void operator()(int64_t at) const {
    const Divided place = Divide(at, g.c), tap = Divide(place.quotient, g.kh * g.kw);
    const Divided of_tap = Divide(tap.rest, g.kw);
    const int64_t c = place.rest, first = tap.quotient * kColumnRows, rows = g.n * g.oh * g.ow;
    const int64_t end = first + kColumnRows < rows ? first + kColumnRows : rows;
    SumOf<T> sum = SumOf<T>(0);
    for (int64_t p = first; p < end; ++p) {
      const int64_t pixel = InputPixel(g, ConvPixelOf(p, g.oh, g.ow), of_tap.quotient, of_tap.rest);
      if (pixel >= 0) sum += Widened(dy[p * g.c + c]) * Widened(x[pixel * g.c + c]);
    }
    out[at] = sum;
  }
};

// (kh kw, c) to (c, kh kw).
template <class T>
struct Unpack {
  int64_t taps, channels;
  const T* in;
  T* out;
  __device__ void operator()(int64_t at) const {
    const Divided place = Divide(at, taps);
    out[at] = in[place.rest * channels + place.quotient];
  }
};

}  // namespace

template <class T>
void DepthwiseForward(const ConvGeometry& g, const T* x, const T* weight, const SumOf<T>* bias,
                      T* y, StreamHandle stream) {
  if constexpr (!std::is_same_v<T, double>)
    if (DepthwiseHasTiles(g, x, weight, y))
      return TiledDepthwiseForward(g, x, weight, bias, y, stream);
  ForEach(kOp, g.output_rows() * g.c, stream, DepthwiseSum<T, false>{{g}, x, weight, bias, y});
}

template <class T>
void DepthwiseBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx,
                            StreamHandle stream) {
  if constexpr (!std::is_same_v<T, double>)
    if (DepthwiseHasTiles(g, dx, weight, dy))
      return TiledDepthwiseBackwardInput(g, dy, weight, dx, stream);
  ForEach(kOp, g.input_rows() * g.c, stream, DepthwiseSum<T, true>{{g}, dy, weight, nullptr, dx});
}

template <class T>
void DepthwiseBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, SumOf<T>* dw,
                             Device device, StreamHandle stream) {
  if constexpr (!std::is_same_v<T, double>)
    if (DepthwiseHasTiles(g, x, x, dy))
      return TiledDepthwiseBackwardWeight(g, x, dy, dw, device, stream);
  using Sum = SumOf<T>;
  const int64_t taps = g.kh * g.kw, parts = SumParts(g.output_rows(), kColumnRows);
  Tensor partial({parts, taps, g.c}, kDTypeOf<Sum>, device);
  Tensor packed({taps, g.c}, kDTypeOf<Sum>, device);
  Sum *const of_parts = MutableElements<Sum>(partial), *const sums = MutableElements<Sum>(packed);
  ForEach(kOp, parts * taps * g.c, stream, DepthwiseWeightPart<T>{g, x, dy, of_parts});
  SumColumns(kOp, 1, parts, taps * g.c, LoadFrom<Sum>{of_parts}, 1, sums, device, stream);
  ForEach(kOp, taps * g.c, stream, Unpack<Sum>{taps, g.c, sums, dw});
}

#define TORUS_INSTANTIATE(T)                                                                       \
  template void DepthwiseForward(const ConvGeometry&, const T*, const T*, const SumOf<T>*, T*,     \
                                 StreamHandle);                                                    \
  template void DepthwiseBackwardInput(const ConvGeometry&, const T*, const T*, T*, StreamHandle); \
  template void DepthwiseBackwardWeight(const ConvGeometry&, const T*, const T*, SumOf<T>*,        \
                                        Device, StreamHandle);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(double)
TORUS_INSTANTIATE(BFloat16)
TORUS_INSTANTIATE(Float16)
#undef TORUS_INSTANTIATE

}  // namespace torus::cuda
