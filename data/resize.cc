#include "data/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace torus::data {
namespace {

// The input pixels that make one output pixel.
struct Taps {
  int64_t first = 0;
  std::vector<double> weights;  // sum to 1
};

Taps TapsOf(int64_t out, int64_t in_size, double scale) {
  const double radius = std::max(scale, 1.0), center = (static_cast<double>(out) + 0.5) * scale;
  // Pixels whose centres lie within the radius.
  const auto first = std::max<int64_t>(0, static_cast<int64_t>(center - radius + 0.5));
  const auto end = std::min(in_size, static_cast<int64_t>(center + radius + 0.5));
  Taps taps{first, {}};
  double sum = 0;
  for (int64_t i = first; i < end; ++i) {
    const double distance = std::abs((static_cast<double>(i) - center + 0.5) / radius);
    taps.weights.push_back(std::max(0.0, 1.0 - distance));
    sum += taps.weights.back();
  }
  for (double& weight : taps.weights) weight /= sum;
  return taps;
}

// How one element type is averaged.
struct U8Arithmetic {
  using Element = uint8_t;
  using Sum = int32_t;  // at most 255 * 2^22
  static constexpr int kBits = 22;
  static constexpr Sum kStart = Sum{1} << (kBits - 1);  // one half: rounds
  static Sum Weight(double weight) { return static_cast<Sum>(weight * (1 << kBits) + 0.5); }
  static Element Finish(Sum sum) { return static_cast<Element>(std::min(sum >> kBits, 255)); }
};

struct F32Arithmetic {
  using Element = float;
  using Sum = float;
  static constexpr Sum kStart = 0;
  static Sum Weight(double weight) { return static_cast<Sum>(weight); }
  static Element Finish(Sum sum) { return sum; }
};

// Resizes the middle dimension of (outer, in_size, inner).
template <class A>
Tensor ResizeMiddle(const Tensor& in, int64_t out_size) {
  using Element = typename A::Element;
  const int64_t outer = in.dim(0), in_size = in.dim(1), inner = in.dim(2);
  Tensor out({outer, out_size, inner}, in.dtype());
  const Element* const from = in.data<Element>();
  Element* const to = out.mutable_data<Element>();
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  std::vector<typename A::Sum> sums(inner);
  for (int64_t j = 0; j < out_size; ++j) {
    const Taps taps = TapsOf(j, in_size, scale);
    for (int64_t o = 0; o < outer; ++o) {
      std::fill(sums.begin(), sums.end(), A::kStart);
      const Element* row = from + (o * in_size + taps.first) * inner;
      for (const double tap : taps.weights) {
        const auto weight = A::Weight(tap);
        for (int64_t i = 0; i < inner; ++i) sums[i] += row[i] * weight;
        row += inner;
      }
      Element* const result = to + (o * out_size + j) * inner;
      for (int64_t i = 0; i < inner; ++i) result[i] = A::Finish(sums[i]);
    }
  }
  return out;
}

template <class A>
Tensor ResizeBoth(Tensor image, int64_t height, int64_t width) {
  const int64_t h = image.dim(0), channels = image.dim(2);
  if (width != image.dim(1)) image = ResizeMiddle<A>(image, width);
  if (height != h) image = ResizeMiddle<A>(image.View({1, h, width * channels}), height);
  return image.View({height, width, channels});
}

}  // namespace

Tensor Resize(const Tensor& image, int64_t height, int64_t width) {
  Require(image.rank() == 3 && image.numel() > 0, "resize", "requires an image (H, W, C), got {}",
          image.Describe());
  Require(image.dtype() == DType::kU8 || image.dtype() == DType::kF32, "resize",
          "requires u8 or f32, got {}", Name(image.dtype()));
  Require(height >= 1 && width >= 1, "resize", "requires a size of at least 1 x 1, got {} x {}",
          height, width);
  const Tensor dense = image.Contiguous();
  return image.dtype() == DType::kU8 ? ResizeBoth<U8Arithmetic>(dense, height, width)
                                     : ResizeBoth<F32Arithmetic>(dense, height, width);
}

}  // namespace torus::data
