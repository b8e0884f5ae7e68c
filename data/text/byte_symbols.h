// How the vocabulary files of byte-level BPE write bytes: each byte as one printable character.
//
// Radford et al., "Language models are unsupervised multitask learners" (2019), section 2.2, and
// bytes_to_unicode of the code published with it: printable Latin-1 stands for itself, every other
// byte, in order, for U+0100, U+0101, ... A space is thus U+0120.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torus::data {

// The character, in UTF-8, that stands for a byte.
const std::string& SymbolOfByte(uint8_t byte);

// The same of each byte of a string.
std::string SymbolsOfBytes(std::string_view bytes);

// The bytes that a string of symbols stands for; none where a character of it stands for no byte.
std::optional<std::string> BytesOfSymbols(std::string_view symbols);

}  // namespace torus::data
