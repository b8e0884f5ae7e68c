// Depthwise convolution of float images, row by row through RowRing. The caller supplies sources
// and sinks of rows, so a batch norm before or after needs no pass of its own over memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/convolution/conv_geometry.h"
#include "ops/convolution/cpu/depthwise_vector.h"
#include "ops/convolution/cpu/row_ring.h"

namespace torus::cpu {

using ops::ConvGeometry;

// Reorders (c, kh, kw) to (kh, kw, c).
std::vector<float> PackDepthwise(const ConvGeometry& g, const float* weight);
// Reorders back, from double sums.
void UnpackDepthwise(const ConvGeometry& g, const double* packed, float* weight);

// Computes output rows begin .. end, numbered n * oh + i. into(n, i) returns where to write a row
// of ow * c values, and out(n, i, row) is called when it is done; the row is valid until the next
// one. fill(n, row, dst) provides input rows.
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

// Computes the input gradient of row y of image n from a ring of output-gradient rows with `left`
// pixels of padding, and applies `mask` unless null.
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

// Sums of weight gradients: in float over a few hundred pixels, then merged in double.
class DepthwiseWeightSums {
 public:
  explicit DepthwiseWeightSums(const ConvGeometry& g)
      : block_(g.kh * g.kw * g.c), total_(g.kh * g.kw * g.c) {}
  // The sums of tap t, to be added to.
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

// Computes both gradients for input rows begin .. end, numbered n * h + y, in one pass. A null
// `packed` leaves out the input gradient, a null `sums` the weight gradient. fill_dy and fill_x
// provide rows. into(n, y) returns where to write an input-gradient row, and out(n, y, row) is
// called when it is done. With `mask`, the row is masked by the input row itself (this function
// sets mask->activation).
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
  // Output rows are assigned to input rows, so that each is processed once, near the rows that it
  // reads.
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

// The number of parts into which the images' rows are divided. Up to 16 threads it depends on the
// geometry alone, so sums do not depend on the team size.
int64_t DepthwiseParts(int64_t rows, int64_t width);

// The whole forward and backward on plain tensors, on the thread team. `dx` or `dw` may be null.
void DepthwiseForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                      float* y);
void DepthwiseBackward(const ConvGeometry& g, const float* x, const float* dy, const float* weight,
                       float* dx, float* dw);

}  // namespace torus::cpu
