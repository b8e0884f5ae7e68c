#include "data/images/gif.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "data/images/byte_reader.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

using Bytes = std::span<const uint8_t>;

enum Block : uint8_t { kExtension = 0x21, kFrame = 0x2c, kEnd = 0x3b };

// A table of colours follows if the flags say so.
void SkipColours(ByteReader& reader, uint8_t flags) {
  if ((flags & 0x80) != 0) reader.Take(size_t{3} << ((flags & 7) + 1));
}

// The contents of a sequence of sub-blocks, which ends with an empty one.
std::vector<uint8_t> SubBlocks(ByteReader& reader) {
  std::vector<uint8_t> all;
  while (const size_t size = reader.Byte()) {
    const Bytes block = reader.Take(size);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

// Skips extensions. Returns whether a frame follows.
bool FindFrame(ByteReader& reader, const std::string& name) {
  for (;;) {
    const size_t at = reader.at();
    const uint8_t block = reader.Byte();
    if (block == kFrame || block == kEnd) return block == kFrame;
    Require(block == kExtension, name, "requires a GIF block at byte {}, got {:#04x}", at, block);
    reader.Byte();  // its kind
    SubBlocks(reader);
  }
}

// The lengths of the strings that LZW's codes stand for (GIF89a, appendix F).
class CodeLengths {
 public:
  explicit CodeLengths(int bits) : clear_(1 << bits), bits_(bits) { Clear(); }

  // How many pixels all codes give, up to `most`; ends at a code that is none.
  uint64_t Pixels(Bytes codes, uint64_t most) {
    uint64_t pixels = 0;
    uint32_t buffer = 0;
    int filled = 0;
    for (const uint8_t byte : codes) {
      buffer |= uint32_t{byte} << filled;
      for (filled += 8; filled >= width_;) {
        const int width = width_, code = static_cast<int>(buffer & ((1u << width) - 1));
        if (!Take(code, &pixels) || pixels >= most) return pixels;
        buffer >>= width;
        filled -= width;
      }
    }
    return pixels;
  }

 private:
  void Clear() {
    next_ = clear_ + 2;
    width_ = bits_ + 1;
    last_ = 0;
  }
  uint64_t Length(int code) const { return code < clear_ ? 1 : lengths_[code]; }

  bool Take(int code, uint64_t* pixels) {
    if (code == clear_) {
      Clear();
      return true;
    }
    if (code == clear_ + 1 || code > next_ || (code == next_ && last_ == 0)) return false;
    if (last_ > 0 && next_ < kCodes) lengths_[next_++] = last_ + 1;
    if (code >= next_) return false;
    last_ = Length(code);
    *pixels += last_;
    if (next_ == 1 << width_ && width_ < 12) ++width_;
    return true;
  }

  static constexpr int kCodes = 4096;
  std::array<uint64_t, kCodes> lengths_{};
  int clear_, bits_, next_ = 0, width_ = 0;
  uint64_t last_ = 0;  // length of the last code's string; 0 after a clear code
};

// Reads past the frame that begins here. Returns whether it has all its pixels.
bool ReadFrame(ByteReader& reader) {
  reader.Take(4);  // its place
  const uint64_t width = reader.LittleEndian(2), height = reader.LittleEndian(2);
  SkipColours(reader, reader.Byte());
  const int bits = reader.Byte();
  const std::vector<uint8_t> codes = SubBlocks(reader);
  if (bits < 1 || bits > 11) return false;
  return CodeLengths(bits).Pixels(codes, width * height) >= width * height;
}

void SkipHeader(ByteReader& reader) {
  reader.Take(6 + 4);  // signature, size of the canvas
  const uint8_t flags = reader.Byte();
  reader.Take(2);
  SkipColours(reader, flags);
}

}  // namespace

bool IsGif(Bytes bytes) {
  constexpr std::string_view kMagic = "GIF8";
  return bytes.size() >= 4 && std::equal(kMagic.begin(), kMagic.end(), bytes.begin());
}

void CheckGif(Bytes bytes, const std::string& name) {
  ByteReader reader(bytes, name);
  SkipHeader(reader);
  Require(FindFrame(reader, name), name, "requires a GIF with a frame, got its end at byte {}",
          reader.at());
  Require(ReadFrame(reader), name, "requires a whole image, got a GIF without its last pixels");
}

bool IsAnimatedGif(Bytes bytes) try {
  if (!IsGif(bytes)) return false;
  const std::string name = "gif";
  ByteReader reader(bytes, name);
  SkipHeader(reader);
  if (!FindFrame(reader, name)) return false;
  ReadFrame(reader);
  return FindFrame(reader, name);
} catch (const BadInput&) {
  return false;
}

}  // namespace torus::data
