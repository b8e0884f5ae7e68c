// The index arithmetic shared by convolution's kernels.
#pragma once

#include "ops/convolution/conv_geometry.h"
#include "runtime/cuda/divide.h"

namespace torus::cuda {

using ops::ConvGeometry;

struct ConvPixel {
  int64_t n, i, j;
};

// The coordinates of pixel number `at` of images of `height` x `width`.
TORUS_HOST_DEVICE inline ConvPixel ConvPixelOf(int64_t at, int64_t height, int64_t width) {
  const Divided row = Divide(at, width), image = Divide(row.quotient, height);
  return {image.quotient, image.rest, row.rest};
}

// Tap (a, b) of the kernel, and a channel of a group.
struct ConvTap {
  int64_t a, b, channel;
};

// The tap of term number `term` in the row-major order of (a, b, channel), with `channels`
// channels.
TORUS_HOST_DEVICE inline ConvTap ConvTapOf(int64_t term, int64_t kw, int64_t channels) {
  const Divided tap = Divide(term, channels), row = Divide(tap.quotient, kw);
  return {row.quotient, row.rest, tap.rest};
}

// The number, n h w + y w + x, of the input pixel that output pixel `out` reads at a tap; -1 for
// padding.
TORUS_HOST_DEVICE inline int64_t InputPixel(const ConvGeometry& g, const ConvPixel& out, int64_t a,
                                            int64_t b) {
  const int64_t y = out.i * g.stride_h - g.top + a * g.dilation_h;
  const int64_t x = out.j * g.stride_w - g.left + b * g.dilation_w;
  if (y < 0 || y >= g.h || x < 0 || x >= g.w) return -1;
  return (out.n * g.h + y) * g.w + x;
}

// The number of the output pixel that reads input pixel `in` at a tap; -1 if there is none.
TORUS_HOST_DEVICE inline int64_t OutputPixel(const ConvGeometry& g, const ConvPixel& in, int64_t a,
                                             int64_t b) {
  const int64_t y = in.i + g.top - a * g.dilation_h, x = in.j + g.left - b * g.dilation_w;
  if (y < 0 || x < 0) return -1;
  const Divided i = Divide(y, g.stride_h), j = Divide(x, g.stride_w);
  if (i.rest != 0 || j.rest != 0 || i.quotient >= g.oh || j.quotient >= g.ow) return -1;
  return (in.n * g.oh + i.quotient) * g.ow + j.quotient;
}

// The direction of a convolution kernel. It iterates over output pixels and reads input pixels;
// with `backward`, for the input's gradient, the other way round.
template <bool backward>
struct ConvWay {
  ConvGeometry g;
  // The coordinates of pixel number `at` among those it iterates over.
  TORUS_HOST_DEVICE ConvPixel PixelAt(int64_t at) const {
    return backward ? ConvPixelOf(at, g.h, g.w) : ConvPixelOf(at, g.oh, g.ow);
  }
  // Channels of the images that it reads.
  TORUS_HOST_DEVICE int64_t channels() const { return backward ? g.o : g.c; }
  // The number of the pixel that it reads at a tap, or -1.
  TORUS_HOST_DEVICE int64_t PixelRead(const ConvPixel& here, int64_t a, int64_t b) const {
    return backward ? OutputPixel(g, here, a, b) : InputPixel(g, here, a, b);
  }
};

}  // namespace torus::cuda
