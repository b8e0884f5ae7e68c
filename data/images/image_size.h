// ImageSize: height and width of an image.
#pragma once

#include <cstdint>

#include "runtime/error.h"

namespace torus::data {

// The size of an image in pixels.
struct ImageSize {
  int64_t height = 0, width = 0;  // rows and columns
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

// Most pixels that an image's header may claim: 64 Mi, 192 MiB decoded. Checked before memory is
// allocated.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

// Returns `size`; throws BadInput naming the file unless it has 1 to kMostPixels pixels. Both sizes
// are at most 2^32.
inline ImageSize CheckSize(ImageSize size, const std::string& name) {
  const auto [height, width] = size;
  Require(height > 0 && width > 0 && height <= kMostPixels && width <= kMostPixels &&
              height * width <= kMostPixels,
          name, "requires an image of 1 to {} pixels, got {} x {}", kMostPixels, height, width);
  return size;
}

}  // namespace torus::data
