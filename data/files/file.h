// Reading whole files into memory, and decompressing gzip. Every error names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace torus::data {

// Reads all bytes of a regular file; throws like io::InputFile.
std::vector<uint8_t> ReadFile(const std::string& path);

// Whether the bytes begin with gzip's magic number, 1f 8b.
bool IsGzip(std::span<const uint8_t> bytes);

// Decompresses one gzip stream (RFC 1952) and verifies its checksum and length. Throws BadInput
// naming `path` if the stream is damaged, ends early, is followed by more bytes, or holds more than
// `most` bytes.
std::vector<uint8_t> Gunzip(std::span<const uint8_t> bytes, const std::string& path,
                            size_t most = size_t{2} << 30);

// ReadFile, then Gunzip if the file is gzip.
std::vector<uint8_t> ReadFileMaybeGzip(const std::string& path);

}  // namespace torus::data
