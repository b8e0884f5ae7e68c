#include "ops/resampling/pixel_shuffle.h"

#include "autograd/undefined_input.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

// The product of all dimensions before the image's.
int64_t ImagesIn(std::string_view op, const Variable& input, int64_t factor) {
  RequireDefined(op, input);
  Require(input.rank() >= 3, op, "needs images (..., H, W, C), got {}", input.shape());
  Require(factor >= 1, op, "needs a factor of at least 1, got {}", factor);
  int64_t images = 1;
  for (int d = 0; d < input.rank() - 3; ++d) images *= input.dim(d);
  return images;
}

Shape WithImage(Shape shape, int64_t h, int64_t w, int64_t c) {
  const int rank = shape.rank();
  shape[rank - 3] = h, shape[rank - 2] = w, shape[rank - 1] = c;
  return shape;
}

}  // namespace

Variable PixelShuffle(const Variable& input, int64_t upscale_factor) {
  const int64_t r = upscale_factor, n = ImagesIn("pixel_shuffle", input, r);
  const int64_t h = input.dim(-3), w = input.dim(-2), channels = input.dim(-1),
                c = channels / (r * r);
  Require(channels == c * r * r, "pixel_shuffle", "{} channels are no multiple of {} squared",
          channels, r);
  const Variable parts = Permute(Reshape(input, {n, h, w, c, r, r}), {0, 1, 4, 2, 5, 3});
  return Reshape(parts, WithImage(input.shape(), h * r, w * r, c));
}

Variable PixelUnshuffle(const Variable& input, int64_t downscale_factor) {
  const int64_t r = downscale_factor, n = ImagesIn("pixel_unshuffle", input, r);
  const int64_t h = input.dim(-3) / r, w = input.dim(-2) / r, c = input.dim(-1);
  Require(input.dim(-3) == h * r && input.dim(-2) == w * r, "pixel_unshuffle",
          "sizes of {} are no multiples of {}", input.shape(), r);
  const Variable parts = Permute(Reshape(input, {n, h, r, w, r, c}), {0, 1, 3, 5, 2, 4});
  return Reshape(parts, WithImage(input.shape(), h, w, c * r * r));
}

}  // namespace torus::ops
