// The segments of a JPEG file (ITU-T T.81, annex B). They are checked before stb_image reads them,
// because it trusts their contents, and requires an end marker where other readers do not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace torus::data {

struct JpegSegments {
  // SOI, every segment with its coded data, and EOI. This is the file itself, but if one scan holds
  // all components, bytes after that scan are dropped; and if there are four components, Adobe's
  // marker says what their colours are.
  std::vector<uint8_t> bytes;
  // That one scan did not end with EOI, so its last pixels may be missing.
  bool open_end = false;
};

// Throws BadInput naming `name` if the file is not a sequence of segments that starts with SOI; for
// a Huffman table with more than 256 codes or beyond the end of its segment; and if an image of
// several scans, such as a progressive one, does not end with EOI, because the number of missing
// scans is then unknown.
JpegSegments ReadJpegSegments(std::span<const uint8_t> bytes, const std::string& name);

// The same file with 64 bytes of the bits 1111 1110 after the end of its scan. A decoder that runs
// out of data reads zeros before EOI, but these bits here. So if both files decode to the same
// pixels, no data was missing. (Bytes of only ones would be taken for a marker.)
std::vector<uint8_t> ContinueScan(const JpegSegments& jpeg);

}  // namespace torus::data
