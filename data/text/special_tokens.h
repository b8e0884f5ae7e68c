// Special tokens written out in a text: "a <mask> day".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

struct SpecialToken {
  std::string text;  // "<mask>"
  int32_t number = 0;
  bool takes_left = false;  // swallows the white space before it ("lstrip")
};

// A part of a text: a special token's number, or (-1) plain text.
struct TextPart {
  std::string_view text;
  int32_t special = -1;
};

// Cuts a text at the special tokens in it, as Hugging Face's tokenizers do: the leftmost first, of
// those that begin at one place the longest; white space (Unicode's White_Space) before a token
// that takes it belongs to no part. Plain parts are not empty.
std::vector<TextPart> CutAtSpecials(std::string_view text,
                                    const std::vector<SpecialToken>& specials);

}  // namespace torus::data
