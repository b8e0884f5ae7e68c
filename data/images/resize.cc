#include "data/images/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace torus::data {
namespace {

// Arithmetic for averaging one element type.
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

// The input pixels that make each output pixel of one dimension.
template <class A>
struct Filter {
  struct Taps {
    int64_t first;      // input pixel
    size_t begin, end;  // of weights
  };
  std::vector<Taps> taps;  // one per output pixel
  std::vector<typename A::Sum> weights;
};

// Appends the weights of output pixel `out`.
template <class A>
void AddTaps(int64_t out, int64_t in_size, double scale, Filter<A>* filter) {
  const double radius = std::max(scale, 1.0), center = (static_cast<double>(out) + 0.5) * scale;
  // Pixels whose centres lie within the radius.
  const auto first = std::max<int64_t>(0, static_cast<int64_t>(center - radius + 0.5));
  const auto end = std::min(in_size, static_cast<int64_t>(center + radius + 0.5));
  const auto weight = [&](int64_t i) {
    return std::max(0.0, 1.0 - std::abs((static_cast<double>(i) - center + 0.5) / radius));
  };
  double sum = 0;
  for (int64_t i = first; i < end; ++i) sum += weight(i);
  const size_t begin = filter->weights.size();
  for (int64_t i = first; i < end; ++i) filter->weights.push_back(A::Weight(weight(i) / sum));
  filter->taps.push_back({first, begin, filter->weights.size()});
}

template <class A>
Filter<A> MakeFilter(int64_t in_size, int64_t out_size) {
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  Filter<A> filter;
  for (int64_t j = 0; j < out_size; ++j) AddTaps(j, in_size, scale, &filter);
  return filter;
}

// Averages consecutive rows of `inner` elements; `sums` has room for `inner` sums. kInner is
// `inner` if it is known at compile time (sums then stay in registers), else 0.
template <class A, int kInner>
void Average(const typename A::Element* row, const typename A::Sum* weight,
             const typename A::Sum* end, int64_t inner, typename A::Sum* sums,
             typename A::Element* out) {
  typename A::Sum known[kInner == 0 ? 1 : kInner];
  if constexpr (kInner != 0) {
    inner = kInner;
    sums = known;
  }
  std::fill(sums, sums + inner, A::kStart);
  for (; weight != end; ++weight, row += inner) {
    for (int64_t i = 0; i < inner; ++i) sums[i] += row[i] * *weight;
  }
  for (int64_t i = 0; i < inner; ++i) out[i] = A::Finish(sums[i]);
}

// Resizes the middle dimension of (outer, in_size, inner).
template <class A>
Tensor ResizeMiddle(const Tensor& in, int64_t out_size) {
  const int64_t outer = in.dim(0), in_size = in.dim(1), inner = in.dim(2);
  Tensor out({outer, out_size, inner}, in.dtype());
  const auto* from = in.data<typename A::Element>();
  auto* to = out.mutable_data<typename A::Element>();
  const Filter<A> filter = MakeFilter<A>(in_size, out_size);
  std::vector<typename A::Sum> sums(inner);
  const auto average = inner == 3 ? Average<A, 3> : inner == 1 ? Average<A, 1> : Average<A, 0>;
  for (int64_t o = 0; o < outer; ++o, from += in_size * inner) {
    for (const auto& taps : filter.taps) {
      average(from + taps.first * inner, filter.weights.data() + taps.begin,
              filter.weights.data() + taps.end, inner, sums.data(), to);
      to += inner;
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
          image);
  Require(image.dtype() == DType::kU8 || image.dtype() == DType::kF32, "resize",
          "requires u8 or f32, got {}", Name(image.dtype()));
  Require(height >= 1 && width >= 1, "resize", "requires a size of at least 1 x 1, got {} x {}",
          height, width);
  const Tensor dense = image.Contiguous();
  return image.dtype() == DType::kU8 ? ResizeBoth<U8Arithmetic>(dense, height, width)
                                     : ResizeBoth<F32Arithmetic>(dense, height, width);
}

}  // namespace torus::data
