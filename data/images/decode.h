// Decodes image files: JPEG (baseline and progressive) with libjpeg-turbo, PNG, BMP and GIF with
// stb_image, WebP with libwebp, TIFF with libtiff; PPM and PGM.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "data/images/image_size.h"
#include "runtime/tensor.h"

namespace torus::data {

// Decodes to u8 (H, W, 3), RGB. The first bytes say the format, whatever the file is called. Of an
// animation or a file of several pages, the first is decoded (HasMoreFrames). Grey is repeated in
// the three channels. An alpha channel is dropped, not blended, like Pillow's convert("RGB"); only
// GIF's transparent pixels are black or of the background's colour. Of 16-bit samples the upper
// byte is kept, or the nearest one. Palettes are resolved. Four components of a JPEG are CMYK or
// YCCK as Adobe writes them. Apple's proprietary changes to PNG are undone. Orientation is ignored,
// except that of TIFF.
//
// A JPEG that has all its pixels but lacks its end marker, or has other bytes instead, is accepted
// if it has only one scan (jpeg_segments.h); so is a PNG without its end chunk.
//
// Messages call the file `name`. Throws BadInput, with the library's reason if it has one, if the
// bytes are not a complete image in one of these formats (integrity.h, jpeg.h, pnm.h, webp.h,
// tiff.h).
Tensor DecodeImage(std::span<const uint8_t> bytes, const std::string& name);

// Returns the size in the image's header, after all checks of DecodeImage except decoding itself,
// so the image may still turn out damaged. Throws BadInput as above.
ImageSize CheckImage(std::span<const uint8_t> bytes, const std::string& name);

// Whether an image that DecodeImage takes has frames or pages that it passes over: animated WebP
// and GIF, TIFF of several pages.
bool HasMoreFrames(std::span<const uint8_t> bytes, const std::string& name);

// Reads and decodes a file. Throws like ReadFile and DecodeImage.
Tensor ReadImage(const std::string& path);

}  // namespace torus::data
