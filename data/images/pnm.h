// Decodes Netpbm's PPM and PGM (ppm(5), pgm(5)).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/images/image_size.h"
#include "runtime/tensor.h"

namespace torus::data {

// Whether the bytes begin with P2, P3, P5 or P6: grey or colours, as text or binary.
bool IsPnm(std::span<const uint8_t> bytes);

// The size that the header claims. Throws BadInput naming `name` unless it is a header of three
// positive numbers, the largest value is at most 65535, and the bytes behind it can hold so many
// pixels.
ImageSize PnmSize(std::span<const uint8_t> bytes, const std::string& name);

// Decodes to u8 (H, W, 3), RGB. Values are scaled so that the largest becomes 255, and rounded, as
// Pillow does (but it clips grey of 16 bits at 255); greater binary ones become 255. Throws
// BadInput as above, and for pixels as text that are missing, greater, or no numbers.
Tensor DecodePnm(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
