#include "data/text/special_tokens.h"

#include <algorithm>

#include "data/text/utf8.h"

namespace torus::data {
namespace {

bool IsSpace(char32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

// The longest special token that begins at `at`; null if there is none.
const SpecialToken* SpecialAt(std::string_view text, size_t at,
                              const std::vector<SpecialToken>& specials) {
  const SpecialToken* best = nullptr;
  for (const SpecialToken& special : specials) {
    if (!text.substr(at).starts_with(special.text)) continue;
    if (best == nullptr || special.text.size() > best->text.size()) best = &special;
  }
  return best;
}

// The text without the white space at its end.
std::string_view WithoutTrailingSpace(std::string_view text) {
  for (;;) {
    size_t start = text.size();
    // Goes back to where the last character begins.
    do {
      if (start == 0) return text;
      --start;
    } while ((static_cast<uint8_t>(text[start]) & 0xC0) == 0x80);
    const CodePoint last = FirstCodePoint(text.substr(start));
    if (last.bytes != text.size() - start || !IsSpace(last.value)) return text;
    text = text.substr(0, start);
  }
}

}  // namespace

std::vector<TextPart> CutAtSpecials(std::string_view text,
                                    const std::vector<SpecialToken>& specials) {
  std::string firsts;  // the bytes that special tokens begin with
  for (const SpecialToken& special : specials) firsts.push_back(special.text[0]);
  std::vector<TextPart> parts;
  size_t begin = 0;
  const auto add_plain = [&](std::string_view plain) {
    if (!plain.empty()) parts.push_back({plain});
  };
  for (size_t at = text.find_first_of(firsts); at < text.size();) {
    const SpecialToken* const special = SpecialAt(text, at, specials);
    if (special == nullptr) {
      at = text.find_first_of(firsts, at + 1);
      continue;
    }
    const std::string_view before = text.substr(begin, at - begin);
    add_plain(special->takes_left ? WithoutTrailingSpace(before) : before);
    parts.push_back({text.substr(at, special->text.size()), special->number});
    begin = at + special->text.size();
    at = text.find_first_of(firsts, begin);
  }
  add_plain(text.substr(begin));
  return parts;
}

size_t PlaceBetween(std::string_view text, size_t at, const std::vector<SpecialToken>& tokens) {
  size_t longest = 0;
  for (const SpecialToken& token : tokens) longest = std::max(longest, token.text.size());
  for (size_t begin = at - std::min(at, longest); begin < at; ++begin) {
    const SpecialToken* const token = SpecialAt(text, begin, tokens);
    if (token != nullptr && begin + token->text.size() > at) return begin + token->text.size();
  }
  return at;
}

}  // namespace torus::data
