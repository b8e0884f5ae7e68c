// Decodes image files with stb_image: JPEG (baseline and progressive), PNG, BMP, PPM and PGM.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/tensor.h"

namespace torus::data {

// Most pixels that an image's header may claim: 64 Mi, 192 MiB decoded. Checked before decoding.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

// Decodes to u8 (H, W, 3), RGB. Grey is repeated in the three channels. An alpha channel is
// dropped, not blended, like Pillow's convert("RGB"). Of 16-bit samples the upper byte is kept.
// Palettes are resolved. Apple's proprietary changes to PNG are undone.
//
// A JPEG that has all its pixels but lacks its end marker, or has other bytes instead, is accepted
// if it has only one scan (jpeg_segments.h).
//
// Messages call the file `name`. Throws BadInput, with stb_image's reason if it has one, if the
// bytes are not a complete image in one of these formats (integrity.h, jpeg_segments.h).
Tensor DecodeImage(std::span<const uint8_t> bytes, const std::string& name);

// Returns the size in the image's header, after all checks of DecodeImage except decoding itself,
// so the image may still turn out damaged. Throws BadInput as above.
struct ImageSize {
  int64_t height = 0, width = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};
ImageSize CheckImage(std::span<const uint8_t> bytes, const std::string& name);

// Reads and decodes a file. Throws like ReadFile and DecodeImage.
Tensor ReadImage(const std::string& path);

}  // namespace torus::data
