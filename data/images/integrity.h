// Whether a PNG, BMP or PNM file is whole. stb_image fills what is missing with grey, black or what
// its memory holds, and compares no check sum. (JPEG: jpeg_segments.h.)
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// BadInput naming `name` unless the file is whole, by its first bytes:
//   PNG   every chunk lies within the file and has its CRC; the last one is IEND
//   BMP   all rows of the pixels lie within the file
//   PNM   binary grey or colours of 255 levels (stb_image misreads others), all pixels within it
// Bytes of another format, and bytes after the image, pass.
void CheckImageIntegrity(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
