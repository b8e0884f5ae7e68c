#include "data/images/integrity.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "data/images/byte_reader.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

bool BeginsWith(std::span<const uint8_t> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

// PNG specification (second edition), section 5: length, type, data, CRC of type and data.
void CheckPng(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  reader.Take(8);  // the signature
  for (bool end = false; !end;) {
    const size_t length = reader.BigEndian(4);
    const size_t begin = reader.at();
    const auto chunk = reader.Take(4 + length);
    const auto crc = static_cast<uint32_t>(crc32(0, chunk.data(), static_cast<uInt>(chunk.size())));
    Require(reader.BigEndian(4) == crc, name,
            "requires PNG chunks with their check sums, got another at byte {}", begin);
    end = BeginsWith(chunk, "IEND");
  }
}

// Windows bitmap: file header of 14 bytes, then an information header that begins with its size.
void CheckBmp(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  reader.Take(10);
  const uint64_t pixels = reader.LittleEndian(4);
  const bool old = reader.LittleEndian(4) == 12;  // OS/2: 16-bit sizes
  const size_t size = old ? 2 : 4;
  const uint64_t width = reader.LittleEndian(size);
  // Negative if rows go from top to bottom.
  const auto rows = static_cast<int32_t>(reader.LittleEndian(size));
  reader.Take(2);
  const uint64_t bits = reader.LittleEndian(2);
  const uint64_t height = static_cast<uint64_t>(std::abs(int64_t{rows}));
  // At most 2^32 x 2^31 x 2^16 bits; dividing first avoids an overflow.
  const uint64_t row = (width * bits + 31) / 32 * 4;
  const bool fits = row == 0 || height <= (std::numeric_limits<uint32_t>::max() - pixels) / row;
  Require(fits && pixels + row * height <= bytes.size(), name,
          "requires a whole image, got {} bytes for {} rows of {} at byte {}", bytes.size(), height,
          row, pixels);
}

// A number in a PNM header, after white space and comments.
uint64_t PnmNumber(ByteReader& reader, const std::string& name) {
  uint8_t byte = reader.Byte();
  while (byte == '#' ||
         std::string_view(" \t\n\v\f\r").find(static_cast<char>(byte)) != std::string_view::npos) {
    if (byte == '#') {
      while (byte != '\n' && byte != '\r') byte = reader.Byte();
    }
    byte = reader.Byte();
  }
  uint64_t value = 0;
  for (; byte >= '0' && byte <= '9'; byte = reader.Byte()) {
    value = std::min<uint64_t>(10 * value + (byte - '0'), uint64_t{1} << 31);
  }
  Require(value > 0, name, "requires a PNM header of three positive numbers");
  return value;
}

// Netpbm's ppm(5) and pgm(5): magic number, width, height, largest value, one white space, pixels.
void CheckPnm(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  const uint64_t channels = reader.Take(2)[1] == '6' ? 3 : 1;
  const uint64_t width = PnmNumber(reader, name), height = PnmNumber(reader, name);
  const uint64_t largest = PnmNumber(reader, name);
  Require(largest == 255, name, "requires PNM of values up to 255, got {}", largest);
  const uint64_t left = reader.left();
  Require(height <= left / (width * channels), name,
          "requires a whole image, got {} bytes for {} x {} pixels of {} channels", left, height,
          width, channels);
}

}  // namespace

void CheckImageIntegrity(std::span<const uint8_t> bytes, const std::string& name) {
  if (BeginsWith(bytes, "\x89PNG\r\n\x1a\n")) CheckPng(bytes, name);
  if (BeginsWith(bytes, "BM")) CheckBmp(bytes, name);
  if (BeginsWith(bytes, "P5") || BeginsWith(bytes, "P6")) CheckPnm(bytes, name);
}

}  // namespace torus::data
