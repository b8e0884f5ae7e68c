// Checks that a PNG, BMP or GIF file is complete. stb_image fills missing pixels with grey, black
// or leftover memory, and verifies no checksum. (JPEG: jpeg_segments.h.)
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// Throws BadInput naming `name` unless the file has all its pixels. The format is detected by its
// first bytes:
//   PNG   every chunk lies within the file and has its CRC; the last one is IEND
//   BMP   all rows of the pixels lie within the file
//   GIF   its first frame is whole (gif.h)
// Other formats, and extra bytes after the image, are accepted. Returns the bytes to append so that
// stb_image, too, reads the file: the end chunk of a PNG, or the rest of it; otherwise none.
std::span<const uint8_t> CheckImageIntegrity(std::span<const uint8_t> bytes,
                                             const std::string& name);

}  // namespace torus::data
