// The double convolutions: direct loops.
#include <algorithm>

#include "ops/convolution/cpu/dense.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// Calls body(x offset, weight offset) for every tap of output (n, i, j, o) that lies in the image.
template <class Body>
void OverTaps(const ConvGeometry& g, int64_t n, int64_t i, int64_t j, int64_t o, const Body& body) {
  const int64_t in_group = g.c / g.groups, first = o / (g.o / g.groups) * in_group;
  for (int64_t a = 0; a < g.kh; ++a) {
    const int64_t y = i * g.stride_h - g.top + a * g.dilation_h;
    for (int64_t b = 0; b < g.kw; ++b) {
      const int64_t x = j * g.stride_w - g.left + b * g.dilation_w;
      if (y < 0 || y >= g.h || x < 0 || x >= g.w) continue;
      const int64_t image = ((n * g.h + y) * g.w + x) * g.c + first;
      const int64_t weight = ((o * g.kh + a) * g.kw + b) * in_group;
      for (int64_t k = 0; k < in_group; ++k) body(image + k, weight + k);
    }
  }
}

// Calls body(n, i, j, output offset without o) over the pixels of images [begin, end).
template <class Body>
void OverPixels(const ConvGeometry& g, int64_t begin, int64_t end, const Body& body) {
  for (int64_t n = begin; n < end; ++n)
    for (int64_t i = 0; i < g.oh; ++i)
      for (int64_t j = 0; j < g.ow; ++j) body(n, i, j, ((n * g.oh + i) * g.ow + j) * g.o);
}

}  // namespace

void ConvForward(const ConvGeometry& g, const double* x, const double* weight, const double* bias,
                 double* y) {
  ParallelFor(g.n, 1, [&](int64_t begin, int64_t end) {
    OverPixels(g, begin, end, [&](int64_t n, int64_t i, int64_t j, int64_t at) {
      for (int64_t o = 0; o < g.o; ++o) {
        double sum = bias == nullptr ? 0 : bias[o];
        OverTaps(g, n, i, j, o, [&](int64_t a, int64_t b) { sum += x[a] * weight[b]; });
        y[at + o] = sum;
      }
    });
  });
}

void ConvBackwardInput(const ConvGeometry& g, const double* dy, const double* weight, double* dx) {
  std::fill(dx, dx + g.n * g.h * g.w * g.c, 0.0);
  ParallelFor(g.n, 1, [&](int64_t begin, int64_t end) {
    OverPixels(g, begin, end, [&](int64_t n, int64_t i, int64_t j, int64_t at) {
      for (int64_t o = 0; o < g.o; ++o)
        OverTaps(g, n, i, j, o, [&](int64_t a, int64_t b) { dx[a] += dy[at + o] * weight[b]; });
    });
  });
}

void ConvBackwardWeight(const ConvGeometry& g, const double* x, const double* dy, double* dw) {
  std::fill(dw, dw + g.o * g.kh * g.kw * (g.c / g.groups), 0.0);
  ParallelFor(g.o, 1, [&](int64_t begin, int64_t end) {
    OverPixels(g, 0, g.n, [&](int64_t n, int64_t i, int64_t j, int64_t at) {
      for (int64_t o = begin; o < end; ++o)
        OverTaps(g, n, i, j, o, [&](int64_t a, int64_t b) { dw[b] += dy[at + o] * x[a]; });
    });
  });
}

}  // namespace torus::cpu
