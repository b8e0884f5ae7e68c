#include "data/text/special_tokens.h"

#include <algorithm>

#include "data/text/utf8.h"
#include "data/text/word_characters.h"

namespace torus::data {
namespace {

bool IsSpace(char32_t c) {
  return (c >= 0x9 && c <= 0xD) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

std::string_view WithoutTrailingSpace(std::string_view text) {
  for (CodePoint last; (last = LastCodePoint(text)).bytes > 0 && IsSpace(last.value);)
    text.remove_suffix(last.bytes);
  return text;
}

std::string_view WithoutLeadingSpace(std::string_view text) {
  for (CodePoint first; (first = FirstCodePoint(text)).bytes > 0 && IsSpace(first.value);)
    text.remove_prefix(first.bytes);
  return text;
}

// The longest that begins the text; null if none does.
const SpecialToken* LongestAt(std::string_view text,
                              const std::vector<const SpecialToken*>& tokens) {
  const SpecialToken* best = nullptr;
  for (const SpecialToken* token : tokens) {
    if (!text.starts_with(token->text)) continue;
    if (best == nullptr || token->text.size() > best->text.size()) best = token;
  }
  return best;
}

// Splits at the tokens of one kind.
class Cutter {
 public:
  Cutter(const std::vector<SpecialToken>& tokens, bool normalized,
         const std::function<bool(const SpecialToken&)>& wanted)
      : wanted_(wanted) {
    for (const SpecialToken& token : tokens) {
      if (token.normalized != normalized) continue;
      tokens_.push_back(&token);
      if (firsts_.find(token.text[0]) == firsts_.npos) firsts_.push_back(token.text[0]);
    }
  }

  void Cut(std::string_view text, std::vector<TextPart>* parts) const {
    size_t done = 0;
    for (size_t at = NextFirst(text, 0); at < text.size();) {
      const SpecialToken* const token = LongestAt(text.substr(at), tokens_);
      if (token != nullptr && IsTaken(*token, text, at)) done = Take(*token, text, at, done, parts);
      at = NextFirst(text, at + (token == nullptr ? 1 : token->text.size()));
    }
    if (done < text.size()) parts->push_back({text.substr(done)});
  }

 private:
  // Where the next token may begin. Nearly all tokens begin with "<", and `find` is many times
  // faster than `find_first_of`.
  size_t NextFirst(std::string_view text, size_t from) const {
    return firsts_.size() == 1 ? text.find(firsts_[0], from) : text.find_first_of(firsts_, from);
  }

  bool IsTaken(const SpecialToken& token, std::string_view text, size_t at) const {
    if (!wanted_(token)) return false;
    return !token.whole_word || (!EndsWithWord(text.substr(0, at)) &&
                                 !BeginsWithWord(text.substr(at + token.text.size())));
  }

  // Returns the end of the token, with what it takes. `done` is that of the token before.
  static size_t Take(const SpecialToken& token, std::string_view text, size_t at, size_t done,
                     std::vector<TextPart>* parts) {
    size_t begin = at, end = at + token.text.size();
    if (token.takes_left) begin = std::max(done, WithoutTrailingSpace(text.substr(0, at)).size());
    if (done < begin) parts->push_back({text.substr(done, begin - done)});
    parts->push_back({text.substr(at, token.text.size()), token.number});
    return token.takes_right ? text.size() - WithoutLeadingSpace(text.substr(end)).size() : end;
  }

  const std::function<bool(const SpecialToken&)>& wanted_;
  std::vector<const SpecialToken*> tokens_;
  std::string firsts_;  // the bytes that they begin with
};

}  // namespace

std::vector<TextPart> CutAtSpecials(std::string_view text, const std::vector<SpecialToken>& tokens,
                                    const std::function<bool(const SpecialToken&)>& wanted) {
  std::vector<TextPart> once, parts;
  Cutter(tokens, /*normalized=*/false, wanted).Cut(text, &once);
  const Cutter rest(tokens, /*normalized=*/true, wanted);
  for (const TextPart& part : once) {
    if (part.special >= 0)
      parts.push_back(part);
    else
      rest.Cut(part.text, &parts);
  }
  return parts;
}

size_t PlaceBetween(std::string_view text, size_t at, const std::vector<SpecialToken>& tokens) {
  size_t longest = 0;
  std::vector<const SpecialToken*> all;
  for (const SpecialToken& token : tokens) {
    longest = std::max(longest, token.text.size());
    all.push_back(&token);
  }
  for (size_t begin = at - std::min(at, longest); begin < at; ++begin) {
    const SpecialToken* const token = LongestAt(text.substr(begin), all);
    if (token != nullptr && begin + token->text.size() > at) return begin + token->text.size();
  }
  return at;
}

}  // namespace torus::data
