#include "ops/convolution/cuda/conv_places.h"
#include "ops/convolution/cuda/dense.h"
#include "runtime/cuda/elements.h"
//
#include "ops/convolution/cuda/tile_product.h"
#include "runtime/cuda/column_sums.h"

namespace torus::cuda {
namespace {

constexpr const char* kOp = "conv2d";
constexpr int64_t kWeightPart = 1024;  // output pixels that one block adds for a weight's gradient

// Lines are output pixels; terms are the input's values at the taps, channel by channel. With
// `backward`, lines are input pixels and terms the output's gradients, filter by filter.
template <class T, bool backward>
struct ValuesAtTaps {
  static constexpr bool kAlongDepth = true;
  ConvWay<backward> way;
  const T* values;
  __device__ ConvPixel LineAt(int64_t, int64_t line) const { return way.PixelAt(line); }
  __device__ ConvTap TermAt(int64_t group, int64_t term) const {
    const int64_t channels = way.channels() / way.g.groups;
    ConvTap tap = ConvTapOf(term, way.g.kw, channels);
    tap.channel += group * channels;
    return tap;
  }
  __device__ T Load(const ConvPixel& here, const ConvTap& tap) const {
    const int64_t pixel = way.PixelRead(here, tap.a, tap.b);
    return pixel < 0 ? T(0) : values[pixel * way.channels() + tap.channel];
  }
};

// Lines are a group's filters, terms their values.
template <class T>
struct FilterValues {
  static constexpr bool kAlongDepth = true;
  int64_t filters, size;  // of a group, and of a filter
  const T* weight;
  __device__ const T* LineAt(int64_t group, int64_t line) const {
    return weight + (group * filters + line) * size;
  }
  __device__ int64_t TermAt(int64_t, int64_t term) const { return term; }
  __device__ T Load(const T* filter, int64_t term) const { return filter[term]; }
};

template <class T>
struct StoreOutput {
  int64_t channels, in_group;
  const T* bias;  // may be null
  T* out;
  __device__ void operator()(int64_t, int64_t group, int64_t row, int64_t column, T sum) const {
    const int64_t c = group * in_group + column;
    out[row * channels + c] = bias == nullptr ? sum : sum + bias[c];
  }
};

// Lines are a group's input channels, terms the weights by tap and filter.
template <class T>
struct FilterChannels {
  static constexpr bool kAlongDepth = false;
  ConvGeometry g;
  const T* weight;
  __device__ int64_t LineAt(int64_t, int64_t line) const { return line; }
  // Where the tap of the filter starts.
  __device__ const T* TermAt(int64_t group, int64_t term) const {
    const int64_t filters = g.o / g.groups;
    const Divided tap = Divide(term, filters);
    const int64_t filter = group * filters + tap.rest;
    return weight + (filter * g.kh * g.kw + tap.quotient) * (g.c / g.groups);
  }
  __device__ T Load(int64_t channel, const T* tap) const { return tap[channel]; }
};

// Lines are a group's filters, terms output pixels.
template <class T>
struct GradientOfFilters {
  static constexpr bool kAlongDepth = false;
  int64_t channels, filters;  // of all groups, and of one
  const T* dy;
  __device__ int64_t LineAt(int64_t group, int64_t line) const { return group * filters + line; }
  __device__ const T* TermAt(int64_t, int64_t pixel) const { return dy + pixel * channels; }
  __device__ T Load(int64_t filter, const T* pixel) const { return pixel[filter]; }
};

// Lines are the taps and channels of a filter, terms output pixels.
template <class T>
struct InputOfPixels {
  static constexpr bool kAlongDepth = false;
  ValuesAtTaps<T, false> input;
  __device__ ConvTap LineAt(int64_t group, int64_t line) const { return input.TermAt(group, line); }
  __device__ ConvPixel TermAt(int64_t group, int64_t pixel) const {
    return input.LineAt(group, pixel);
  }
  __device__ T Load(const ConvTap& tap, const ConvPixel& out) const { return input.Load(out, tap); }
};

// The parts one after another, each shaped like the weight.
template <class T>
struct StoreWeightPart {
  int64_t filters, size, count;  // of a group, of a filter, of the whole weight
  T* out;
  __device__ void operator()(int64_t part, int64_t group, int64_t row, int64_t column,
                             T sum) const {
    out[part * count + (group * filters + row) * size + column] = sum;
  }
};

ProductShape ShapeOf(int64_t rows, int64_t columns, int64_t depth, int64_t groups) {
  return {.rows = rows, .columns = columns, .depth = depth, .groups = groups, .part = depth};
}

}  // namespace

template <class T>
void DenseForward(const ConvGeometry& g, const T* x, const T* weight, const T* bias, T* y,
                  StreamHandle stream) {
  const int64_t filters = g.o / g.groups, size = g.kh * g.kw * (g.c / g.groups);
  RunTileProduct<T>(kOp, ShapeOf(g.output_rows(), filters, size, g.groups),
                    ValuesAtTaps<T, false>{{g}, x}, FilterValues<T>{filters, size, weight},
                    StoreOutput<T>{g.o, filters, bias, y}, stream);
}

template <class T>
void DenseBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, T* dx,
                        StreamHandle stream) {
  const int64_t channels = g.c / g.groups, depth = g.kh * g.kw * (g.o / g.groups);
  RunTileProduct<T>(kOp, ShapeOf(g.input_rows(), channels, depth, g.groups),
                    ValuesAtTaps<T, true>{{g}, dy}, FilterChannels<T>{g, weight},
                    StoreOutput<T>{g.c, channels, nullptr, dx}, stream);
}

template <class T>
void DenseBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, T* dw, Device device,
                         StreamHandle stream) {
  const int64_t filters = g.o / g.groups, size = g.kh * g.kw * (g.c / g.groups);
  const int64_t count = g.o * size;
  ProductShape shape = ShapeOf(filters, size, g.output_rows(), g.groups);
  shape.part = kWeightPart;
  shape.parts = SumParts(shape.depth, kWeightPart);
  Tensor partial;
  if (shape.parts > 1) partial = Tensor({shape.parts, count}, kDTypeOf<T>, device);
  T* const to = partial.defined() ? MutableElements<T>(partial) : dw;
  RunTileProduct<T>(kOp, shape, GradientOfFilters<T>{g.o, filters, dy}, InputOfPixels<T>{{{g}, x}},
                    StoreWeightPart<T>{filters, size, count, to}, stream);
  if (partial.defined())
    SumColumns(kOp, 1, shape.parts, count, LoadFrom<T>{to}, 1, dw, device, stream);
}

#define TORUS_INSTANTIATE(T)                                                                       \
  template void DenseForward(const ConvGeometry&, const T*, const T*, const T*, T*, StreamHandle); \
  template void DenseBackwardInput(const ConvGeometry&, const T*, const T*, T*, StreamHandle);     \
  template void DenseBackwardWeight(const ConvGeometry&, const T*, const T*, T*, Device,           \
                                    StreamHandle);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(double)
#undef TORUS_INSTANTIATE

}  // namespace torus::cuda
