// Depthwise convolution over images in float, row by row through RowRing: sources and sinks of rows
// are the caller's, so that a batch norm on either side costs no pass over memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/convolution/conv_geometry.h"
#include "ops/convolution/cpu/depthwise_vector.h"
#include "ops/convolution/cpu/row_ring.h"

namespace torus::cpu {

using ops::ConvGeometry;

// (c, kh, kw) to (kh, kw, c).
std::vector<float> PackDepthwise(const ConvGeometry& g, const float* weight);
// And back, from double sums.
void UnpackDepthwise(const ConvGeometry& g, const double* packed, float* weight);

// Calls out(n, i, row) for output rows begin .. end of n * oh + i, where row holds ow * c values
// that the call may use before the next; `into(n, i)` says where to compute it. fill(n, row, dst)
// gives the input rows.
template <class Fill, class Into, class Out>
void DepthwiseForwardRows(const ConvGeometry& g, const float* packed, const float* bias,
                          int64_t begin, int64_t end, const Fill& fill, const Into& into,
                          const Out& out) {
  RowRing<Fill> ring((g.kh - 1) * g.dilation_h + 1, g.w, g.c, g.left, g.right, fill);
  std::vector<DepthwiseTap> taps(g.kh * g.kw);
  for (int64_t r = begin; r < end; ++r) {
    const int64_t n = r / g.oh, i = r % g.oh;
    int count = 0;
    for (int64_t a = 0; a < g.kh; ++a) {
      const int64_t y = i * g.stride_h - g.top + a * g.dilation_h;
      if (y < 0 || y >= g.h) continue;
      const float* row = ring.Row(n, y);
      for (int64_t b = 0; b < g.kw; ++b)
        taps[count++] = {row + b * g.dilation_w * g.c, packed + (a * g.kw + b) * g.c};
    }
    float* const y = into(n, i);
    DepthwiseRow(taps.data(), count, bias, g.ow, g.c, g.stride_w * g.c, g.c, y);
    out(n, i, y);
  }
}

// The input gradient of row y of image n, from a ring of output-gradient rows with `left` pixels of
// padding; through `mask` unless null.
template <class Ring>
void DepthwiseInputRow(const ConvGeometry& g, const float* packed, Ring& dy, int64_t left,
                       int64_t n, int64_t y, std::vector<DepthwiseTap>& taps, float* dx,
                       const DepthwiseMask* mask) {
  for (int64_t phase = 0; phase < std::min(g.stride_w, g.w); ++phase) {
    int count = 0;
    for (int64_t a = 0; a < g.kh; ++a) {
      const int64_t up = y + g.top - a * g.dilation_h;
      if (up < 0 || up % g.stride_h != 0 || up / g.stride_h >= g.oh) continue;
      const float* row = dy.Row(n, up / g.stride_h) + left * g.c;
      for (int64_t b = g.kw; b-- > 0;) {  // from the left
        const int64_t across = phase + g.left - b * g.dilation_w;
        if (across % g.stride_w != 0) continue;
        taps[count++] = {row + across / g.stride_w * g.c, packed + (a * g.kw + b) * g.c};
      }
    }
    const int64_t columns = (g.w - phase + g.stride_w - 1) / g.stride_w;
    DepthwiseMask of_phase;
    if (mask != nullptr) of_phase = *mask, of_phase.activation += phase * g.c;
    DepthwiseRow(taps.data(), count, nullptr, columns, g.c, g.c, g.stride_w * g.c, dx + phase * g.c,
                 mask == nullptr ? nullptr : &of_phase);
  }
}

// Sums of weight gradients: a few hundred pixels in float, then merged in double.
class DepthwiseWeightSums {
 public:
  explicit DepthwiseWeightSums(const ConvGeometry& g)
      : block_(g.kh * g.kw * g.c), total_(g.kh * g.kw * g.c) {}
  // Sums of tap t to add to.
  float* tap(int64_t t, int64_t channels) { return block_.data() + t * channels; }
  void CountPixels(int64_t pixels) {
    if ((pixels_ += pixels) >= 256) Flush();
  }
  void Flush();
  void Merge(const DepthwiseWeightSums& other);
  const double* total() const { return total_.data(); }

 private:
  int64_t pixels_ = 0;
  std::vector<float> block_;
  std::vector<double> total_;
};

// Adds the weight gradient of output row i of image n.
template <class RingX, class RingY>
void DepthwiseWeightGradientRow(const ConvGeometry& g, RingX& x, RingY& dy, int64_t left, int64_t n,
                                int64_t i, std::vector<DepthwiseWeightTap>& taps,
                                DepthwiseWeightSums& sums) {
  int count = 0;
  for (int64_t a = 0; a < g.kh; ++a) {
    const int64_t y = i * g.stride_h - g.top + a * g.dilation_h;
    if (y < 0 || y >= g.h) continue;
    const float* row = x.Row(n, y);
    for (int64_t b = 0; b < g.kw; ++b)
      taps[count++] = {row + b * g.dilation_w * g.c, sums.tap(a * g.kw + b, g.c)};
  }
  DepthwiseWeightRow(taps.data(), count, dy.Row(n, i) + left * g.c, g.ow, g.c, g.stride_w * g.c);
  sums.CountPixels(g.ow);
}

// Both gradients for input rows begin .. end of n * h + y in one sweep. `packed` null leaves out
// the input gradient, `sums` null the weight gradient. fill_dy and fill_x give the rows; into(n, y)
// says where an input-gradient row goes and out(n, y, row) gets it, masked by the input row itself
// where there is a `mask` (its activation is set here).
template <class FillY, class FillX, class Into, class Out>
void DepthwiseBackwardRows(const ConvGeometry& g, const float* packed, DepthwiseWeightSums* sums,
                           int64_t begin, int64_t end, const FillY& fill_dy, const FillX& fill_x,
                           const Into& into, const Out& out, DepthwiseMask* mask = nullptr) {
  // How far an input column may reach beyond the output's first and last one.
  const int64_t left = (g.kw - 1) * g.dilation_w / g.stride_w + 1;
  const int64_t right = std::max<int64_t>(0, (g.w - 1 + g.left) / g.stride_w - (g.ow - 1));
  RowRing<FillY> dy((g.kh - 1) * g.dilation_h / g.stride_h + 2, g.ow, g.c, left, right, fill_dy);
  RowRing<FillX> x((g.kh - 1) * g.dilation_h + 2, g.w, g.c, g.left, g.right, fill_x);
  std::vector<DepthwiseTap> taps(g.kh * g.kw);
  std::vector<DepthwiseWeightTap> weight_taps(g.kh * g.kw);
  // Output rows are shared out over the input rows, so that each is taken once, near the rows that
  // it reads.
  auto first_output = [&](int64_t y) { return (y * g.oh + g.h - 1) / g.h; };
  for (int64_t r = begin; r < end; ++r) {
    const int64_t n = r / g.h, y = r % g.h;
    if (packed != nullptr) {
      if (mask != nullptr) mask->activation = x.Row(n, y) + g.left * g.c;
      float* const dx = into(n, y);
      DepthwiseInputRow(g, packed, dy, left, n, y, taps, dx, mask);
      out(n, y, dx);
    }
    if (sums == nullptr) continue;
    for (int64_t i = first_output(y); i < first_output(y + 1); ++i)
      DepthwiseWeightGradientRow(g, x, dy, left, n, i, weight_taps, *sums);
  }
  if (sums != nullptr) sums->Flush();
}

// Parts that the images' rows are shared out in: by the geometry alone, so that sums do not depend
// on the team size.
int64_t DepthwiseParts(int64_t rows, int64_t width);

// The whole passes over plain tensors, on the team. `dx` or `dw` may be null.
void DepthwiseForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                      float* y);
void DepthwiseBackward(const ConvGeometry& g, const float* x, const float* dy, const float* weight,
                       float* dx, float* dw);

}  // namespace torus::cpu
