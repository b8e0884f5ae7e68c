// The structure of GIF files (GIF89a specification, CompuServe 1990), which stb_image does not
// check: it leaves black what is missing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// Whether the bytes begin with GIF8.
bool IsGif(std::span<const uint8_t> bytes);

// Throws BadInput naming `name` unless the first frame of a GIF is whole: its blocks lie within the
// file, and its codes give all its pixels.
void CheckGif(std::span<const uint8_t> bytes, const std::string& name);

// Whether a second frame follows the first one. False for other files and damaged ones.
bool IsAnimatedGif(std::span<const uint8_t> bytes);

}  // namespace torus::data
