#include "data/text/word_characters.h"

#include "data/text/pattern.h"
#include "data/text/utf8.h"

namespace torus::data {
namespace {

bool IsOfAWord(std::string_view character) {
  static const Pattern word(R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}])");
  return !character.empty() && Pattern::Matcher(word).EndAt(character, 0) > 0;
}

}  // namespace

bool BeginsWithWord(std::string_view text) {
  return IsOfAWord(text.substr(0, FirstCodePoint(text).bytes));
}

bool EndsWithWord(std::string_view text) {
  return IsOfAWord(text.substr(text.size() - LastCodePoint(text).bytes));
}

}  // namespace torus::data
