// The segments of a JPEG file (ITU-T T.81, annex B). They are checked before libjpeg reads them,
// because it passes over what is between them and takes a missing end for a whole image.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace torus::data {

// SOI, every segment with its coded data, and EOI. This is the file itself, but if one scan holds
// all components, bytes after that scan are dropped, and its EOI need not be there.
//
// Throws BadInput naming `name` if the file is not a sequence of segments that starts with SOI; and
// if an image of several scans, such as a progressive one, does not end with EOI, because the
// number of missing scans is then unknown.
std::vector<uint8_t> ReadJpegSegments(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace torus::data
