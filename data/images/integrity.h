// Checks that a PNG, BMP or PNM file is complete. stb_image fills missing pixels with grey, black
// or leftover memory, and verifies no checksum. (JPEG: jpeg_segments.h.)
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// Throws BadInput naming `name` unless the file is complete. The format is detected by its first
// bytes:
//   PNG   every chunk lies within the file and has its CRC; the last one is IEND
//   BMP   all rows of the pixels lie within the file
//   PNM   binary grey or colours of 255 levels (stb_image misreads others), all pixels within it
// Other formats, and extra bytes after the image, are accepted.
void CheckImageIntegrity(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
