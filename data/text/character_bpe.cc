#include "data/text/character_bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "data/text/apply_merges.h"
#include "data/text/utf8.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

uint64_t PairOf(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }

std::string ByteToken(int byte) { return fmt::format("<0x{:02X}>", byte); }

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at; (at = text.find(from)) != text.npos; text.remove_prefix(at + from.size()))
    out.append(text.substr(0, at)).append(to);
  return out.append(text);
}

// Whether a space symbol stands in it behind another character.
bool HasInnerSpace(std::string_view token) {
  while (token.starts_with(kSpaceSymbol)) token.remove_prefix(kSpaceSymbol.size());
  return token.find(kSpaceSymbol) != token.npos;
}

}  // namespace

CharacterBpe::CharacterBpe(Parts parts, const std::string& path) : parts_(std::move(parts)) {
  bytes_.resize(parts_.numbers.size());
  for (const auto& [token, number] : parts_.numbers)
    bytes_.at(static_cast<size_t>(number)) =
        parts_.spaces.replaced ? Replaced(token, kSpaceSymbol, " ") : token;
  if (parts_.byte_fallback) AddBytes();
  AddMerges(path);
  for (const SpecialToken& token : parts_.specials) {
    if (!token.special) words_.push_back(token);
    if (!token.normalized || !parts_.spaces.before_added_words) {
      as_written_.push_back(token);
      continue;
    }
    as_spaced_.push_back(token);
    as_spaced_.back().text = Spaced(token.text, /*first=*/true);
    as_spaced_.back().normalized = false;
    // Decoded as it was found, with the space in front that the rule gave it.
    if (!token.special)
      bytes_.at(static_cast<size_t>(token.number)) =
          Replaced(as_spaced_.back().text, kSpaceSymbol, " ");
  }
}

// Byte tokens represent their byte, also in a decoded text if the decoder says so.
void CharacterBpe::AddBytes() {
  byte_numbers_.assign(256, -1);
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = parts_.numbers.find(ByteToken(byte));
    if (found == parts_.numbers.end()) continue;
    byte_numbers_[static_cast<size_t>(byte)] = found->second;
    if (parts_.decodes_bytes)
      bytes_[static_cast<size_t>(found->second)] = std::string(1, static_cast<char>(byte));
  }
}

int32_t CharacterBpe::NumberOf(const std::string& token, const std::string& path) const {
  const auto found = parts_.numbers.find(token);
  Require(found != parts_.numbers.end(), path, "requires a number for '{}', which the merges name",
          std::string_view(token).substr(0, 80));
  return found->second;
}

void CharacterBpe::AddMerges(const std::string& path) {
  for (const auto& [left, right] : parts_.merges) {
    const auto l = static_cast<uint32_t>(NumberOf(left, path)),
               r = static_cast<uint32_t>(NumberOf(right, path));
    const bool fresh = ranks_.emplace(PairOf(l, r), static_cast<uint32_t>(results_.size())).second;
    Require(fresh, path, "requires each merge once, got '{} {}' again",
            std::string_view(left).substr(0, 80), std::string_view(right).substr(0, 80));
    results_.push_back(static_cast<uint32_t>(NumberOf(left + right, path)));
    words_are_apart_ = words_are_apart_ && !HasInnerSpace(left + right);
  }
}

std::string CharacterBpe::Spaced(std::string_view part, bool first) const {
  using Prefix = SpaceRule::Prefix;
  const Prefix prefix = parts_.spaces.prefix;
  const std::string text =
      parts_.spaces.replaced ? Replaced(part, " ", kSpaceSymbol) : std::string(part);
  const bool without = !text.starts_with(kSpaceSymbol);
  const bool added = prefix == Prefix::kEachPart ||
                     (prefix == Prefix::kEachPartWithout && without) ||
                     (prefix == Prefix::kFirstPartWithout && without && first);
  return added && !text.empty() ? std::string(kSpaceSymbol) + text : text;
}

// The first place that merges do not cross. Where no token has a space symbol behind another
// character, they cross none in front of one, so that long texts need not be merged as a whole.
size_t CharacterBpe::PieceEnd(std::string_view text) const {
  const bool anywhere = parts_.spaces.split;
  if (!anywhere && !words_are_apart_) return text.size();
  size_t at = 0;
  if (text.starts_with(kSpaceSymbol)) {
    at = kSpaceSymbol.size();
    while (!anywhere && text.substr(at).starts_with(kSpaceSymbol)) at += kSpaceSymbol.size();
  }
  return std::min(text.find(kSpaceSymbol, at), text.size());
}

void CharacterBpe::AppendCharacter(std::string_view character, bool* after_unknown,
                                   std::vector<uint32_t>* symbols) const {
  const bool fused = *after_unknown && parts_.fuse_unknown;
  *after_unknown = false;
  if (const auto found = parts_.numbers.find(character); found != parts_.numbers.end())
    return symbols->push_back(static_cast<uint32_t>(found->second));
  const auto has_token = [this](char byte) {
    return byte_numbers_[static_cast<uint8_t>(byte)] >= 0;
  };
  if (parts_.byte_fallback && std::ranges::all_of(character, has_token)) {
    for (const char byte : character)
      symbols->push_back(static_cast<uint32_t>(byte_numbers_[static_cast<uint8_t>(byte)]));
    return;
  }
  Require(parts_.unknown.has_value(), name(), "has no token for the character '{}'", character);
  *after_unknown = true;
  if (!fused) symbols->push_back(static_cast<uint32_t>(*parts_.unknown));
}

// With ignore_merges a piece of the vocabulary is one token.
bool CharacterBpe::AppendWhole(std::string_view piece, std::vector<int32_t>* ids) const {
  if (!parts_.ignore_merges) return false;
  const auto whole = parts_.numbers.find(piece);
  if (whole == parts_.numbers.end()) return false;
  ids->push_back(whole->second);
  return true;
}

void CharacterBpe::EncodePiece(std::string_view piece, std::vector<int32_t>* ids) const {
  std::vector<uint32_t> symbols;
  bool after_unknown = false;
  while (!piece.empty()) {
    const size_t bytes = std::max<size_t>(1, FirstCodePoint(piece).bytes);
    AppendCharacter(piece.substr(0, bytes), &after_unknown, &symbols);
    piece.remove_prefix(bytes);
  }
  ApplyMerges(
      [this](uint32_t left, uint32_t right) {
        const auto found = ranks_.find(PairOf(left, right));
        return found == ranks_.end() ? UINT32_MAX : found->second;
      },
      [this](uint32_t rank) { return results_[rank]; }, &symbols);
  ids->insert(ids->end(), symbols.begin(), symbols.end());
}

void CharacterBpe::EncodePart(std::string_view part, bool first, const TokenFilter& recognised,
                              std::vector<int32_t>* ids) const {
  const std::string spaced = Spaced(part, first);
  for (const TextPart& between : CutAtSpecials(spaced, as_spaced_, recognised)) {
    if (between.special >= 0)
      ids->push_back(between.special);
    else
      EncodeText(between.text, ids);
  }
}

// Without a rule that splits it a text is one piece, wherever PieceEnd cuts it for the merges.
void CharacterBpe::EncodeText(std::string_view text, std::vector<int32_t>* ids) const {
  const bool splits = parts_.spaces.split;
  if (!splits && AppendWhole(text, ids)) return;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, PieceEnd(text));
    if (!splits || !AppendWhole(piece, ids)) EncodePiece(piece, ids);
    text.remove_prefix(piece.size());
  }
}

void CharacterBpe::EncodeBetween(std::string_view text, const TokenFilter& recognised,
                                 std::vector<int32_t>* ids) const {
  for (const TextPart& part : CutAtSpecials(text, as_written_, recognised)) {
    if (part.special >= 0)
      ids->push_back(part.special);
    else
      EncodePart(part.text, part.text.data() == text.data(), recognised, ids);
  }
}

void CharacterBpe::Encode(std::string_view text, std::vector<int32_t>* ids) const {
  EncodeBetween(
      text, [](const SpecialToken& token) { return !token.special; }, ids);
}

void CharacterBpe::EncodeWithSpecials(std::string_view text, std::vector<int32_t>* ids) const {
  EncodeBetween(
      text, [](const SpecialToken&) { return true; }, ids);
}

void CharacterBpe::EncodeWith(std::string_view text, const std::vector<std::string>& tokens,
                              std::vector<int32_t>* ids) const {
  const auto recognised = [&](const SpecialToken& token) {
    return !token.special ||
           std::ranges::find(tokens, bytes_[static_cast<size_t>(token.number)]) != tokens.end();
  };
  EncodeBetween(text, recognised, ids);
}

std::string CharacterBpe::DecodeNext(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    Require(id >= 0 && id < vocabulary(), name(), "requires tokens of 0 to {}, got {}",
            vocabulary() - 1, id);
    text += bytes_[static_cast<size_t>(id)];
  }
  return text;
}

std::string CharacterBpe::Decode(std::span<const int32_t> ids) const {
  const std::string text = DecodeNext(ids);
  return parts_.strips_first_space && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace torus::data
