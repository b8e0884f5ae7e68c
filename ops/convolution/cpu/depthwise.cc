#include "ops/convolution/cpu/depthwise.h"

#include <cstring>

#include "ops/cpu/sum_parts.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {

std::vector<float> PackDepthwise(const ConvGeometry& g, const float* weight) {
  const int64_t taps = g.kh * g.kw;
  std::vector<float> packed(taps * g.c);
  for (int64_t c = 0; c < g.c; ++c)
    for (int64_t t = 0; t < taps; ++t) packed[t * g.c + c] = weight[c * taps + t];
  return packed;
}

void UnpackDepthwise(const ConvGeometry& g, const double* packed, float* weight) {
  const int64_t taps = g.kh * g.kw;
  for (int64_t c = 0; c < g.c; ++c)
    for (int64_t t = 0; t < taps; ++t)
      weight[c * taps + t] = static_cast<float>(packed[t * g.c + c]);
}

void DepthwiseWeightSums::Flush() {
  if (pixels_ == 0) return;
  for (size_t i = 0; i < block_.size(); ++i) {
    total_[i] += block_[i];
    block_[i] = 0;
  }
  pixels_ = 0;
}

void DepthwiseWeightSums::Merge(const DepthwiseWeightSums& other) {
  for (size_t i = 0; i < total_.size(); ++i) total_[i] += other.total_[i];
}

int64_t DepthwiseParts(int64_t rows, int64_t width) {
  return SumParts(std::min(rows * width / 64, rows));
}

namespace {

// A source of rows of `width` pixels that copies from a contiguous tensor.
auto CopyRows(const float* data, int64_t height, int64_t width, int64_t channels) {
  return [=](int64_t n, int64_t row, float* dst) {
    std::memcpy(dst, data + (n * height + row) * width * channels,
                width * channels * sizeof(float));
  };
}

}  // namespace

void DepthwiseForward(const ConvGeometry& g, const float* x, const float* weight, const float* bias,
                      float* y) {
  const std::vector<float> packed = PackDepthwise(g, weight);
  const auto fill = CopyRows(x, g.h, g.w, g.c);
  const auto into = [&](int64_t n, int64_t i) { return y + (n * g.oh + i) * g.ow * g.c; };
  ParallelFor(g.n * g.oh, std::max<int64_t>(1, 4096 / (g.ow * g.c + 1)),
              [&](int64_t begin, int64_t end) {
                DepthwiseForwardRows(g, packed.data(), bias, begin, end, fill, into,
                                     [](int64_t, int64_t, float*) {});
              });
}

void DepthwiseBackward(const ConvGeometry& g, const float* x, const float* dy, const float* weight,
                       float* dx, float* dw) {
  const std::vector<float> packed = PackDepthwise(g, weight);
  const auto fill_dy = CopyRows(dy, g.oh, g.ow, g.c), fill_x = CopyRows(x, g.h, g.w, g.c);
  const auto into = [&](int64_t n, int64_t row) { return dx + (n * g.h + row) * g.w * g.c; };
  const int64_t rows = g.n * g.h, parts = DepthwiseParts(rows, g.w);
  std::vector<DepthwiseWeightSums> sums(dw == nullptr ? 0 : parts, DepthwiseWeightSums(g));
  ParallelFor(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      DepthwiseBackwardRows(g, dx == nullptr ? nullptr : packed.data(),
                            dw == nullptr ? nullptr : &sums[p], rows * p / parts,
                            rows * (p + 1) / parts, fill_dy, fill_x, into,
                            [](int64_t, int64_t, float*) {});
  });
  if (dw == nullptr) return;
  for (int64_t p = 1; p < parts; ++p) sums[0].Merge(sums[p]);
  UnpackDepthwise(g, sums[0].total(), dw);
}

}  // namespace torus::cpu
