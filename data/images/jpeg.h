// Decodes JPEG with libjpeg-turbo, with the bits that Pillow and torchvision get from it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/images/image_size.h"
#include "runtime/tensor.h"

namespace torus::data {

// Whether the bytes begin with FF, as every marker of a JPEG does.
inline bool IsJpeg(std::span<const uint8_t> bytes) { return !bytes.empty() && bytes[0] == 0xff; }

// The size in the header, after ReadJpegSegments has read the file. Throws BadInput naming `name`.
ImageSize JpegSize(std::span<const uint8_t> bytes, const std::string& name);

// Decodes to u8 (H, W, 3), RGB, by exact integer transforms and smooth upsampling. Throws BadInput
// naming `name`, with libjpeg's reason, if the header or the coded data are damaged, or if data are
// missing, for which libjpeg would put grey.
Tensor DecodeJpeg(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
