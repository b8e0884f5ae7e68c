// How vocabulary files of byte-level BPE write bytes: each byte is one printable character.
//
// Radford et al., "Language models are unsupervised multitask learners" (2019), section 2.2, and
// bytes_to_unicode of its published code: printable Latin-1 characters represent themselves; all
// other bytes, in order, become U+0100, U+0101, ... So a space is U+0120.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torus::data {

// The character for a byte, in UTF-8.
const std::string& SymbolOfByte(uint8_t byte);

// The characters for all bytes of a string.
std::string SymbolsOfBytes(std::string_view bytes);

// The bytes that a string of symbols represents; none if one of its characters represents no byte.
std::optional<std::string> BytesOfSymbols(std::string_view symbols);

}  // namespace torus::data
