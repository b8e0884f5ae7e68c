// Channels that become pixels, and back, as torch.nn.functional.pixel_shuffle and pixel_unshuffle,
// for images (..., H, W, C). Any dtype.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// (..., H, W, C r r) to (..., H r, W r, C) with r = upscale_factor: channel (c r + i) r + j becomes
// channel c of pixel (i, j) in its square. Throws BadInput for fewer than three dimensions, a
// factor below 1 and channels that are no multiple of r r.
Variable PixelShuffle(const Variable& input, int64_t upscale_factor);

// The inverse. Throws BadInput for sizes that are no multiples of downscale_factor.
Variable PixelUnshuffle(const Variable& input, int64_t downscale_factor);

}  // namespace torus::ops
