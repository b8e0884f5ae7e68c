// Decoding of image files, by stb_image: JPEG (baseline and progressive), PNG, BMP, PPM and PGM.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/tensor.h"

namespace torus::data {

// Most pixels that an image may claim in its header: 64 Mi, 192 MiB decoded. Checked before
// anything is decoded.
inline constexpr int64_t kMostPixels = int64_t{1} << 26;

// Decodes to u8 (H, W, 3), red first. Grey is repeated in the three channels; an alpha channel is
// dropped, not blended (Pillow's convert("RGB") does the same); of 16-bit samples the upper byte is
// kept; a palette is looked up. What Apple's tools changed in a PNG is undone.
//
// A JPEG whose pixels are all there is read though it lacks its end marker or has other bytes in
// its place, but for one of several scans (jpeg_segments.h).
//
// `name` stands in messages. BadInput, with stb_image's reason where it has one, when the bytes are
// not a whole image of these formats (integrity.h, jpeg_segments.h).
Tensor DecodeImage(std::span<const uint8_t> bytes, const std::string& name);

// The height and width that an image claims, after all of DecodeImage's checks but decoding itself:
// what passes may still turn out damaged. BadInput as above.
struct ImageSize {
  int64_t height = 0, width = 0;
  friend bool operator==(const ImageSize&, const ImageSize&) = default;
};
ImageSize CheckImage(std::span<const uint8_t> bytes, const std::string& name);

// DecodeImage of a file; also ReadFile's errors.
Tensor ReadImage(const std::string& path);

}  // namespace torus::data
