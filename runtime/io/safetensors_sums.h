// Checksums (CRC-32C) within the header of a safetensors file, which other readers pass over:
//   "__metadata__": {"torus.crc32c": "HEADER FIRST SECOND ...", ...}
// in hexadecimal, of eight digits each: of the header's text, where HEADER itself counts as zeros,
// and of the bytes of each tensor, in the order of their positions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/safetensors_header.h"

namespace torus::safetensors {

inline constexpr char kSums[] = "torus.crc32c";

// The entry of the metadata, with HEADER as zeros.
std::string SumsEntry(const std::vector<uint32_t>& tensors);
// Puts HEADER in its place, in the text of a header that has the entry.
void SealHeader(std::string& text);

// Moves the checksums of a header, which was parsed from `text`, from the metadata to the entries.
// Does nothing if there are none, as in other programs' files. Throws BadInput tagged `path` if the
// header is not as it was written.
void TakeSums(const std::string& path, const std::string& text, Header& header);

}  // namespace torus::safetensors
