#include "ops/convolution/cpu/small_image.h"

#include <algorithm>

#include "ops/cpu/bias.h"
#include "ops/cpu/multiply.h"

namespace torus::cpu {
namespace {

constexpr int64_t kLeastBatch = 8;

// The number of taps, over all outputs along one axis, that are inside the image.
int64_t TapsInside(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation,
                   int64_t before) {
  int64_t count = 0;
  for (int64_t i = 0; i < out; ++i)
    for (int64_t a = 0; a < kernel; ++a) {
      const int64_t at = i * stride - before + a * dilation;
      count += at >= 0 && at < in;
    }
  return count;
}

// Calls body(offset of the input pixel, of the output pixel, of the tap) for every pair, each
// offset in floats from the first image's or filter's begin.
template <class Body>
void OverPairs(const ConvGeometry& g, const Body& body) {
  for (int64_t q = 0; q < g.oh * g.ow; ++q)
    for (int64_t t = 0; t < g.kh * g.kw; ++t) {
      const int64_t y = q / g.ow * g.stride_h - g.top + t / g.kw * g.dilation_h;
      const int64_t x = q % g.ow * g.stride_w - g.left + t % g.kw * g.dilation_w;
      if (y >= 0 && y < g.h && x >= 0 && x < g.w) body((y * g.w + x) * g.c, q * g.o, t * g.c);
    }
}

// Floats from one image, or one filter, to the next.
struct Strides {
  explicit Strides(const ConvGeometry& g)
      : x(g.h * g.w * g.c), y(g.oh * g.ow * g.o), weight(g.kh * g.kw * g.c) {}
  int64_t x, y, weight;
};

}  // namespace

bool SmallImageFits(const ConvGeometry& g) {
  const int64_t inside = TapsInside(g.h, g.oh, g.kh, g.stride_h, g.dilation_h, g.top) *
                         TapsInside(g.w, g.ow, g.kw, g.stride_w, g.dilation_w, g.left);
  return g.groups == 1 && g.n >= kLeastBatch && 2 * inside <= g.oh * g.ow * g.kh * g.kw;
}

template <class T>
void SmallImageForward(const ConvGeometry& g, const T* x, const T* weight, const float* bias,
                       float* y) {
  const Strides stride(g);
  std::fill_n(y, g.n * stride.y, 0.0f);
  if (bias != nullptr) AddBias(bias, g.output_rows(), g.o, y);
  OverPairs(g, [&](int64_t in, int64_t out, int64_t tap) {
    Multiply(Transpose::kNo, Transpose::kYes, g.n, g.o, g.c, x + in, stride.x, weight + tap,
             stride.weight, true, y + out, stride.y);
  });
}

template <class T>
void SmallImageBackwardInput(const ConvGeometry& g, const T* dy, const T* weight, float* dx) {
  const Strides stride(g);
  std::fill_n(dx, g.n * stride.x, 0.0f);
  OverPairs(g, [&](int64_t in, int64_t out, int64_t tap) {
    Multiply(Transpose::kNo, Transpose::kNo, g.n, g.c, g.o, dy + out, stride.y, weight + tap,
             stride.weight, true, dx + in, stride.x);
  });
}

template <class T>
void SmallImageBackwardWeight(const ConvGeometry& g, const T* x, const T* dy, float* dw) {
  const Strides stride(g);
  std::fill_n(dw, g.o * stride.weight, 0.0f);
  OverPairs(g, [&](int64_t in, int64_t out, int64_t tap) {
    Multiply(Transpose::kYes, Transpose::kNo, g.o, g.c, g.n, dy + out, stride.y, x + in, stride.x,
             true, dw + tap, stride.weight);
  });
}

#define TORUS_INSTANTIATE(T)                                                                      \
  template void SmallImageForward(const ConvGeometry&, const T*, const T*, const float*, float*); \
  template void SmallImageBackwardInput(const ConvGeometry&, const T*, const T*, float*);         \
  template void SmallImageBackwardWeight(const ConvGeometry&, const T*, const T*, float*);
TORUS_INSTANTIATE(float)
TORUS_INSTANTIATE(BFloat16)
#undef TORUS_INSTANTIATE

}  // namespace torus::cpu
