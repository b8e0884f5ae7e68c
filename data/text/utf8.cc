#include "data/text/utf8.h"

#include <cstdint>
#include <cstring>

#include "runtime/error.h"

namespace torus::data {
namespace {

constexpr char32_t kLast = 0x10FFFF;

bool IsSurrogate(char32_t value) { return value >= 0xD800 && value <= 0xDFFF; }

// The length of a character by its first byte; 0 if the byte cannot be first.
size_t Announced(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

}  // namespace

CodePoint FirstCodePoint(std::string_view text) {
  if (text.empty()) return {};
  const auto first = static_cast<uint8_t>(text[0]);
  const size_t bytes = Announced(first);
  if (bytes == 0 || bytes > text.size()) return {};
  if (bytes == 1) return {first, 1};
  char32_t value = first & (0x7Fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xC0) != 0x80) return {};
    value = value << 6 | (next & 0x3Fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || value > kLast || IsSurrogate(value)) return {};
  return {value, bytes};
}

CodePoint LastCodePoint(std::string_view text) {
  size_t begin = text.size();
  // Goes back to where the last character begins.
  while (begin > 0 && (static_cast<uint8_t>(text[--begin]) & 0xC0) == 0x80) {
  }
  const CodePoint last = FirstCodePoint(text.substr(begin));
  return last.bytes == text.size() - begin ? last : CodePoint{};
}

size_t InvalidPrefix(std::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size() && FirstCodePoint(text.substr(bytes)).bytes == 0) ++bytes;
  return bytes;
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t at = 0;
  for (;;) {
    // Most text is ASCII: eight bytes at once.
    uint64_t eight;
    while (text.size() - at >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + at, sizeof(eight));
      if ((eight & 0x8080808080808080u) != 0) break;
      at += sizeof(eight);
    }
    const size_t bytes = FirstCodePoint(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
}

void AppendUtf8(char32_t value, std::string* text) {
  TORUS_CHECK(value <= kLast && !IsSurrogate(value), "code point {:x}",
              static_cast<uint32_t>(value));
  const auto tail = [&](int shift) {
    text->push_back(static_cast<char>(0x80 | (value >> shift & 0x3F)));
  };
  if (value < 0x80) {
    text->push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    text->push_back(static_cast<char>(0xC0 | value >> 6));
    tail(0);
  } else if (value < 0x10000) {
    text->push_back(static_cast<char>(0xE0 | value >> 12));
    tail(6), tail(0);
  } else {
    text->push_back(static_cast<char>(0xF0 | value >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace torus::data
