// The segments of a JPEG file (ITU-T T.81, annex B), walked before stb_image sees them: it trusts
// what they say, and wants an end marker where other readers do not.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace torus::data {

struct JpegSegments {
  // SOI, every segment with its coded data, EOI: the file itself, but for what follows the scan
  // where one scan holds all components, which does not matter.
  std::vector<uint8_t> bytes;
  // No EOI ended that one scan: its last pixels may be missing.
  bool open_end = false;
};

// BadInput naming `name` for what is no sequence of segments from SOI on; for a Huffman table of
// more than 256 codes or beyond its segment; and where no EOI follows the scans of an image that
// has several, as progressive ones do: how many should have come is not known.
JpegSegments ReadJpegSegments(std::span<const uint8_t> bytes, const std::string& name);

// The same file with 64 bytes of 1111 1110 where its scan ended. A decoder that lacks data takes
// zeros before EOI, and these bits here: it gives the same pixels of both where it lacked none.
// (Bytes of ones alone would be taken for a marker.)
std::vector<uint8_t> ContinueScan(const JpegSegments& jpeg);

}  // namespace torus::data
