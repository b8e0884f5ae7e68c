// Tokens that are written in a text as they are, and are no result of merges: "a <mask> day".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

// A token that is written in a text as it is, whatever the vocabulary makes of its characters.
struct SpecialToken {
  std::string text = {};     // "<mask>"
  int32_t number = 0;        // in the vocabulary
  bool takes_left = false;   // removes the white space before it ("lstrip")
  bool takes_right = false;  // and behind it ("rstrip")
  bool whole_word = false;   // is none inside of a word ("single_word")
  // Looked for in what those that are not leave of a text. (Of texts that are changed first, it
  // would be looked for in the changed one.)
  bool normalized = false;
  // False: a word that somebody added to the vocabulary, which is one token in every text.
  bool special = true;
};

// A part of a text: a special token with its number, or plain text (-1).
struct TextPart {
  std::string_view text;
  int32_t special = -1;
};

using TokenFilter = std::function<bool(const SpecialToken&)>;  // whether a token is wanted

// Splits a text at its special tokens, as Hugging Face's tokenizers do: first at those that are not
// `normalized`, then what is left at the others; each time at the leftmost first, and the longest
// of those that begin at the same place. One that is not `wanted`, or must be a whole word and is
// none (word_characters.h), stays plain text, and so does what it covers. White space (Unicode's
// White_Space) that a token takes is dropped. Plain parts are not empty.
std::vector<TextPart> CutAtSpecials(std::string_view text, const std::vector<SpecialToken>& tokens,
                                    const TokenFilter& wanted);

// The first place from `at` on that is not inside of one of the tokens written in the text.
size_t PlaceBetween(std::string_view text, size_t at, const std::vector<SpecialToken>& tokens);

}  // namespace torus::data
