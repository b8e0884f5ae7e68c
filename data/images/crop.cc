#include "data/images/crop.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels.h"

namespace torus::data {
namespace {

void CheckImage(std::string_view op, const Tensor& image) {
  Require(image.rank() == 3, op, "requires an image (H, W, C), got {}", image);
}

int64_t HalfOf(int64_t difference) {
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(difference) / 2));
}

// kPixel is `pixel`, or 0.
template <size_t kPixel>
void MirrorRow(const char* from, char* to, int64_t width, size_t pixel) {
  if constexpr (kPixel != 0) pixel = kPixel;
  to += width * pixel;
  for (int64_t x = 0; x < width; ++x, from += pixel) std::memcpy(to -= pixel, from, pixel);
}

}  // namespace

Tensor Crop(const Tensor& image, int64_t top, int64_t left, int64_t height, int64_t width) {
  CheckImage("crop", image);
  Require(height >= 1 && width >= 1, "crop", "requires a window of at least 1 x 1, got {} x {}",
          height, width);
  const int64_t y0 = std::max<int64_t>(top, 0), y1 = std::min(top + height, image.dim(0));
  const int64_t x0 = std::max<int64_t>(left, 0), x1 = std::min(left + width, image.dim(1));
  const bool inside = y1 - y0 == height && x1 - x0 == width;
  const Shape shape{height, width, image.dim(2)};
  Tensor out = inside ? Empty(shape, image.dtype()) : Zeros(shape, image.dtype());
  if (y0 >= y1 || x0 >= x1) return out;
  const Tensor source = image.Contiguous();
  const size_t pixel = static_cast<size_t>(image.dim(2)) * SizeOf(image.dtype());
  const auto* const from = static_cast<const char*>(source.raw());
  auto* const to = static_cast<char*>(out.mutable_raw());
  for (int64_t y = y0; y < y1; ++y) {
    std::memcpy(to + ((y - top) * width + x0 - left) * pixel,
                from + (y * image.dim(1) + x0) * pixel, (x1 - x0) * pixel);
  }
  return out;
}

Tensor CenterCrop(const Tensor& image, int64_t height, int64_t width) {
  CheckImage("crop", image);
  return Crop(image, HalfOf(image.dim(0) - height), HalfOf(image.dim(1) - width), height, width);
}

Tensor FlipHorizontal(const Tensor& image) {
  CheckImage("flip", image);
  const Tensor source = image.Contiguous();
  Tensor out(image.shape(), image.dtype());
  const size_t pixel = static_cast<size_t>(image.dim(2)) * SizeOf(image.dtype());
  const auto* from = static_cast<const char*>(source.raw());
  auto* to = static_cast<char*>(out.mutable_raw());
  for (int64_t y = 0; y < image.dim(0); ++y) {
    // A copy of three bytes is one instruction or two where the size is known.
    pixel == 3 ? MirrorRow<3>(from, to, image.dim(1), 3)
               : MirrorRow<0>(from, to, image.dim(1), pixel);
    from += image.dim(1) * pixel;
    to += image.dim(1) * pixel;
  }
  return out;
}

}  // namespace torus::data
