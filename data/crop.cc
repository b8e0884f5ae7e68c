#include "data/crop.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels.h"

namespace torus::data {
namespace {

void CheckImage(std::string_view op, const Tensor& image) {
  Require(image.rank() == 3, op, "requires an image (H, W, C), got {}", image.Describe());
}

int64_t HalfOf(int64_t difference) {
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(difference) / 2));
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
  const int64_t width = image.dim(1), pixels = image.dim(0) * width;
  const size_t pixel = static_cast<size_t>(image.dim(2)) * SizeOf(image.dtype());
  const auto* const from = static_cast<const char*>(source.raw());
  auto* const to = static_cast<char*>(out.mutable_raw());
  for (int64_t i = 0; i < pixels; ++i) {
    const int64_t x = i % width;
    std::memcpy(to + (i - x + width - 1 - x) * pixel, from + i * pixel, pixel);
  }
  return out;
}

}  // namespace torus::data
