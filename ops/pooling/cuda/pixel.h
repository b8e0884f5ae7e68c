// Pixel and channel of an element of images (n, h, w, c). Internal to this op family.
#pragma once

#include "runtime/cuda/divide.h"

namespace torus::cuda {

struct PixelPlace {
  int64_t n, y, x, c;
};

// The position of element i in images of `height` x `width` pixels and `channels`.
TORUS_HOST_DEVICE inline PixelPlace PixelOf(int64_t i, int64_t height, int64_t width,
                                            int64_t channels) {
  const Divided pixel = Divide(i, channels), row = Divide(pixel.quotient, width);
  const Divided image = Divide(row.quotient, height);
  return {image.quotient, image.rest, row.rest, pixel.rest};
}

}  // namespace torus::cuda
