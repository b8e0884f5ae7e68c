// Decodes WebP with libwebp.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/images/image_size.h"
#include "runtime/tensor.h"

namespace torus::data {

// Whether the bytes begin with RIFF....WEBP.
bool IsWebp(std::span<const uint8_t> bytes);
// Whether such a file is an animation.
bool IsAnimatedWebp(std::span<const uint8_t> bytes);

// The size that the header claims, of an animation that of its canvas. Throws BadInput naming
// `name` if it is damaged.
ImageSize WebpSize(std::span<const uint8_t> bytes, const std::string& name);

// Decodes to u8 (H, W, 3), RGB: an image, or the first frame of an animation on its canvas, which
// is black where that frame is not. An alpha channel is dropped. Throws BadInput naming `name` if
// the file is damaged or not whole.
Tensor DecodeWebp(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
