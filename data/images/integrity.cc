#include "data/images/integrity.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "data/images/byte_reader.h"
#include "data/images/gif.h"
#include "runtime/error.h"
#include "runtime/io/crc32.h"

namespace torus::data {
namespace {

bool BeginsWith(std::span<const uint8_t> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; });
}

constexpr std::array<uint8_t, 12> kPngEnd{0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};

// Whether nothing but the end chunk, or the last bytes of it, is missing.
bool LacksItsEnd(std::span<const uint8_t> rest) {
  return rest.size() < kPngEnd.size() && std::equal(rest.begin(), rest.end(), kPngEnd.begin());
}

// PNG specification (second edition), section 5: length, type, data, CRC of type and data. Returns
// what is missing of the end chunk.
std::span<const uint8_t> CheckPng(std::span<const uint8_t> bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  reader.Take(8);  // the signature
  bool pixels = false;
  for (;;) {
    const auto rest = bytes.subspan(reader.at());
    if (pixels && LacksItsEnd(rest)) return std::span(kPngEnd).subspan(rest.size());
    const size_t length = reader.BigEndian(4);
    const size_t begin = reader.at();
    const auto chunk = reader.Take(4 + length);
    const uint32_t crc = io::Crc32({reinterpret_cast<const char*>(chunk.data()), chunk.size()});
    Require(reader.BigEndian(4) == crc, name,
            "requires PNG chunks with their check sums, got another at byte {}", begin);
    if (BeginsWith(chunk, "IEND")) return {};
    pixels = pixels || BeginsWith(chunk, "IDAT");
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

}  // namespace

std::span<const uint8_t> CheckImageIntegrity(std::span<const uint8_t> bytes,
                                             const std::string& name) {
  if (BeginsWith(bytes, "\x89PNG\r\n\x1a\n")) return CheckPng(bytes, name);
  if (BeginsWith(bytes, "BM")) CheckBmp(bytes, name);
  if (IsGif(bytes)) CheckGif(bytes, name);
  return {};
}

}  // namespace torus::data
