// Whether the bytes of an image file are all there. stb_image fills what is missing with grey,
// black or chance, and looks at no check sum.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// BadInput naming `name` unless the file is whole, by its first bytes:
//   PNG   every chunk lies within the file and has its CRC; the last one is IEND
//   JPEG  markers follow one another from SOI to EOI; Huffman tables have at most 256 codes
//   BMP   all rows of the pixels lie within the file
//   PNM   binary grey or colours of 255 levels (stb_image misreads others), all pixels within it
// Bytes of another format, and bytes after the image, pass.
void CheckWholeImage(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
