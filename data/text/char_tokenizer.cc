#include "data/text/char_tokenizer.h"

#include <set>
#include <utility>

#include "data/text/utf8.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

// Calls visit(code point, offset) for each; BadInput naming `source` where there is none.
template <class Visit>
void ForEachCharacter(std::string_view text, const std::string& source, const Visit& visit) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = FirstCodePoint(text.substr(at));
    Require(point.bytes > 0, source, "requires UTF-8, got byte {:#04x} at offset {}",
            static_cast<uint8_t>(text[at]), at);
    visit(point.value, at);
    at += point.bytes;
  }
}

// 'a', or nothing of what a terminal does not print.
std::string Shown(char32_t value) {
  std::string character;
  AppendUtf8(value, &character);
  const bool control = value < 0x20 || (value >= 0x7f && value < 0xa0);
  return control ? "a control character" : "'" + character + "'";
}

}  // namespace

CharTokenizer::CharTokenizer(std::string alphabet) : alphabet_(std::move(alphabet)) {
  char32_t last = 0;
  ForEachCharacter(alphabet_, name(), [&](char32_t value, size_t at) {
    Require(characters_.empty() || value > last, name(),
            "requires an alphabet in ascending order, got U+{:04X} after U+{:04X} at offset {}",
            static_cast<uint32_t>(value), static_cast<uint32_t>(last), at);
    last = value;
    tokens_[value] = static_cast<int32_t>(characters_.size());
    AppendUtf8(value, &characters_.emplace_back());
  });
  Require(!characters_.empty(), name(), "requires an alphabet of at least one character");
}

CharTokenizer CharTokenizer::Of(std::string_view text, const std::string& source) {
  std::set<char32_t> characters;
  ForEachCharacter(text, source, [&](char32_t value, size_t) { characters.insert(value); });
  Require(!characters.empty(), source, "requires at least one character, got an empty text");
  std::string alphabet;
  for (const char32_t value : characters) AppendUtf8(value, &alphabet);
  return CharTokenizer(std::move(alphabet));
}

const std::string& CharTokenizer::name() const {
  static const std::string name = "chars";
  return name;
}

void CharTokenizer::Encode(std::string_view text, std::vector<int32_t>* ids) const {
  ForEachCharacter(text, name(), [&](char32_t value, size_t at) {
    const auto token = tokens_.find(value);
    Require(token != tokens_.end(), name(),
            "requires one of its {} characters, got {} (U+{:04X}) at offset {}", characters_.size(),
            Shown(value), static_cast<uint32_t>(value), at);
    ids->push_back(token->second);
  });
}

std::string CharTokenizer::Decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    Require(id >= 0 && id < vocabulary(), name(), "requires tokens of 0 to {}, got {}",
            vocabulary() - 1, id);
    text += characters_[id];
  }
  return text;
}

}  // namespace torus::data
