#include "data/text/bpe_tokenizer.h"

#include <algorithm>
#include <iterator>

#include "data/text/utf8.h"
#include "runtime/error.h"

namespace torus::data {
BpeTokenizer::BpeTokenizer(Parts parts) : parts_(std::move(parts)), pattern_(parts_.numbers) {
  std::ranges::copy_if(parts_.specials, std::back_inserter(words_),
                       [](const SpecialToken& token) { return !token.special; });
}

int32_t BpeTokenizer::Special(std::string_view text) const {
  const auto found = std::ranges::find(parts_.specials, text, &SpecialToken::text);
  Require(found != parts_.specials.end(), name(), "has no special token '{}'", text);
  return found->number;
}

void BpeTokenizer::EncodePiece(std::string_view piece, Work* work) const {
  std::vector<int32_t>& ids = *work->ids;
  if (work->cache != nullptr) {
    if (const auto* known = work->cache->Find(piece)) {
      ids.insert(ids.end(), known->begin(), known->end());
      return;
    }
  }
  const size_t begin = ids.size();
  if (const auto whole = parts_.whole_pieces.find(piece); whole != parts_.whole_pieces.end()) {
    ids.push_back(whole->second);
  } else {
    parts_.merges.Apply(piece, &work->symbols);
    for (const Symbol symbol : work->symbols) ids.push_back(parts_.vocabulary.NumberOf(symbol));
  }
  if (work->cache != nullptr) work->cache->Put(piece, ids.data() + begin, ids.data() + ids.size());
}

void BpeTokenizer::EncodePlain(std::string_view text, Work* work) const {
  while (!text.empty()) {
    const size_t valid = ValidUtf8Prefix(text);
    Gpt2Pattern::Scanner scanner(pattern_, text.substr(0, valid));
    for (std::string_view piece; scanner.Next(&piece);) EncodePiece(piece, work);
    text.remove_prefix(valid);
    const size_t invalid = InvalidPrefix(text);
    if (invalid > 0) EncodePiece(text.substr(0, invalid), work);
    text.remove_prefix(invalid);
  }
}

void BpeTokenizer::EncodePart(std::string_view text, Work* work) const {
  if (!parts_.prefix_space || text.starts_with(' ')) return EncodePlain(text, work);
  std::string spaced(1, ' ');
  spaced.append(text);
  EncodePlain(spaced, work);
}

void BpeTokenizer::EncodeBetween(std::string_view text, const TokenFilter& recognised,
                                 std::vector<int32_t>* ids) const {
  const std::unique_lock lock(cache_mutex_, std::try_to_lock);
  Work work{.ids = ids, .cache = lock.owns_lock() ? &cache_ : nullptr};
  for (const TextPart& part : CutAtSpecials(text, parts_.specials, recognised)) {
    if (part.special >= 0) {
      ids->push_back(part.special);
    } else {
      EncodePart(part.text, &work);
    }
  }
}

void BpeTokenizer::Encode(std::string_view text, std::vector<int32_t>* ids) const {
  EncodeBetween(
      text, [](const SpecialToken& token) { return !token.special; }, ids);
}

void BpeTokenizer::EncodeWithSpecials(std::string_view text, std::vector<int32_t>* ids) const {
  EncodeBetween(
      text, [](const SpecialToken&) { return true; }, ids);
}

void BpeTokenizer::EncodeWith(std::string_view text, const std::vector<std::string>& tokens,
                              std::vector<int32_t>* ids) const {
  const auto recognised = [&](const SpecialToken& token) {
    return !token.special || std::ranges::find(tokens, token.text) != tokens.end();
  };
  EncodeBetween(text, recognised, ids);
}

std::string BpeTokenizer::Decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    Require(id >= 0 && id < vocabulary(), name(), "requires tokens of 0 to {}, got {}",
            vocabulary() - 1, id);
    text += parts_.vocabulary.BytesOf(id);
  }
  return text;
}

}  // namespace torus::data
