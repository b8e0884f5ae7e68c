// What counts as part of a word, for added tokens that must be whole words.
#pragma once

#include <string_view>

namespace torus::data {

// Whether the first, or the last, character of `text` is one of a word: a letter, mark, decimal
// digit, connector or joiner, \w of Unicode's regular expressions (Unicode Technical Standard 18,
// annex C). False for an empty text, and for bytes that are not UTF-8.
bool BeginsWithWord(std::string_view text);
bool EndsWithWord(std::string_view text);

}  // namespace torus::data
