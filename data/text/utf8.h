// UTF-8 (RFC 3629), as needed by tokenizers: no surrogates, nothing beyond U+10FFFF, shortest forms
// only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torus::data {

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 0;  // 0: the text is empty or does not begin with a whole code point
};

// The first code point of `text`.
CodePoint FirstCodePoint(std::string_view text);

// The last code point of `text`; none if it does not end with a whole one.
CodePoint LastCodePoint(std::string_view text);

// The length of the longest prefix that is valid UTF-8; text.size() if all of it is.
size_t ValidUtf8Prefix(std::string_view text);

// The length of the longest prefix in which no character begins.
size_t InvalidPrefix(std::string_view text);

// Appends a code point. Throws InternalError for one that UTF-8 cannot represent.
void AppendUtf8(char32_t value, std::string* text);

}  // namespace torus::data
