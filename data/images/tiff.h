// Decodes TIFF with libtiff.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/images/image_size.h"
#include "runtime/tensor.h"

namespace torus::data {

// Whether the bytes begin as TIFF or BigTIFF of either byte order.
bool IsTiff(std::span<const uint8_t> bytes);
// Whether such a file has more images than one.
bool HasMorePages(std::span<const uint8_t> bytes, const std::string& name);

// The size of the first image, turned as its orientation says. Throws BadInput naming `name` if its
// directory is damaged.
ImageSize TiffSize(std::span<const uint8_t> bytes, const std::string& name);

// Decodes the first image to u8 (H, W, 3), RGB, in any colours, tiles and compression that
// libtiff's RGBA interface takes (samples of 1 to 16 bits). Turned as its orientation says, as
// Pillow does for TIFF alone. An alpha channel is dropped; if the colours are multiplied by it,
// they are divided. Of grey with 16 bits the upper byte is kept, of colours the nearest level.
// Throws BadInput naming `name`, with libtiff's reason, if anything is damaged or
// missing.
Tensor DecodeTiff(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
