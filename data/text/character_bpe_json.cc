#include "data/text/character_bpe_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/json_parts.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {
namespace {

using io::Brief;
using io::Member;
using Json = nlohmann::json;

// The members of a Sequence, or the value itself; none of null.
std::vector<Json> MembersOf(const Json& value, const char* members) {
  if (value.is_null()) return {};
  const Json& list = Member(value, members);
  if (Member(value, "type") == "Sequence" && list.is_array()) return {list.begin(), list.end()};
  return {value};
}

bool IsOf(const Json& part, const char* type) { return Member(part, "type") == type; }

// Replace of one string by another.
bool Replaces(const Json& part, std::string_view from, std::string_view to) {
  return IsOf(part, "Replace") && Member(Member(part, "pattern"), "String") == from &&
         Member(part, "content") == to;
}

void ReadNormalizer(const Json& normalizer, const std::string& path, SpaceRule* spaces) {
  spaces->before_added_words = true;
  for (const Json& part : MembersOf(normalizer, "normalizers")) {
    if (IsOf(part, "Prepend") && Member(part, "prepend") == kSpaceSymbol) {
      spaces->prefix = SpaceRule::Prefix::kEachPart;
    } else {
      Require(Replaces(part, " ", kSpaceSymbol), path,
              "requires a BPE that only writes spaces otherwise, got the normalizer {}",
              Brief(Member(part, "type")));
      spaces->replaced = true;
    }
  }
}

void ReadMetaspace(const Json& part, const std::string& path, SpaceRule* spaces) {
  using Prefix = SpaceRule::Prefix;
  const Json &replacement = Member(part, "replacement"), &scheme = Member(part, "prepend_scheme");
  Require(replacement == kSpaceSymbol, path, "requires Metaspace of U+2581, got {}",
          Brief(replacement));
  spaces->replaced = true;
  spaces->before_added_words = false;
  spaces->split = FlagOf(part, "split", path, /*absent=*/true);
  if (scheme.is_null())  // before tokenizers 0.14
    spaces->prefix = FlagOf(part, "add_prefix_space", path, /*absent=*/true)
                         ? Prefix::kEachPartWithout
                         : Prefix::kNone;
  else if (scheme == "always")
    spaces->prefix = Prefix::kEachPartWithout;
  else if (scheme == "first")
    spaces->prefix = Prefix::kFirstPartWithout;
  else
    Require(scheme == "never", path, "requires a prepend_scheme of always, first or never, got {}",
            Brief(scheme));
}

SpaceRule SpacesOf(const Json& json, const std::string& path) {
  SpaceRule spaces;
  ReadNormalizer(Member(json, "normalizer"), path, &spaces);
  const std::vector<Json> before = MembersOf(Member(json, "pre_tokenizer"), "pretokenizers");
  Require(before.size() <= 1 && (before.empty() || IsOf(before[0], "Metaspace")), path,
          "requires a BPE over characters without a pre_tokenizer, or with Metaspace, got the "
          "pre_tokenizer {}",
          KindOf(Member(json, "pre_tokenizer"), "pretokenizers"));
  if (before.empty()) return spaces;
  Require(!spaces.replaced && spaces.prefix == SpaceRule::Prefix::kNone, path,
          "requires spaces written otherwise once, got a normalizer and Metaspace");
  ReadMetaspace(before[0], path, &spaces);
  return spaces;
}

bool DecodesBytes(const Json& json) {
  const std::vector<Json> parts = MembersOf(Member(json, "decoder"), "decoders");
  return std::ranges::any_of(parts, [](const Json& part) { return IsOf(part, "ByteFallback"); });
}

// Whether a decoded text loses the space that encoding put in front.
bool StripsFirstSpace(const Json& json, const std::string& path) {
  bool strips = false;
  for (const Json& part : MembersOf(Member(json, "decoder"), "decoders")) {
    const bool strip = IsOf(part, "Strip") && Member(part, "content") == " " &&
                       Member(part, "start") == 1 && Member(part, "stop") == 0;
    Require(strip || IsOf(part, "Metaspace") || IsOf(part, "ByteFallback") || IsOf(part, "Fuse") ||
                Replaces(part, kSpaceSymbol, " "),
            path, "requires a decoder of spaces and bytes, got {}", Brief(Member(part, "type")));
    strips = strips || strip ||
             (IsOf(part, "Metaspace") && Member(part, "prepend_scheme") != "never" &&
              Member(part, "add_prefix_space") != false);
  }
  return strips;
}

std::pair<std::string, std::string> MergeOf(const Json& merge, const std::string& path) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
    return {merge[0], merge[1]};
  const std::string text = merge.is_string() ? merge.get<std::string>() : "";
  const size_t space = text.find(' ');
  Require(space != text.npos && space > 0 && space + 1 < text.size() &&
              text.find(' ', space + 1) == text.npos,
          path, "requires merges of two strings, got {}", Brief(merge));
  return {text.substr(0, space), text.substr(space + 1)};
}

}  // namespace

bool IsCharacterBpe(const Json& json) {
  const Json &model = Member(json, "model"), &merges = Member(model, "merges");
  if (!merges.is_array() || merges.empty()) return false;
  const Json& before = Member(json, "pre_tokenizer");
  const std::vector<Json> parts = MembersOf(before, "pretokenizers");
  return Member(model, "byte_fallback") == true || parts.empty() || IsOf(parts[0], "Metaspace");
}

CharacterBpe::Parts ParseCharacterBpe(const Json& json, const std::string& path) {
  const Json &model = Member(json, "model"), &type = Member(model, "type"),
             &vocabulary = Member(model, "vocab"), &merges = Member(model, "merges"),
             &unknown = Member(model, "unk_token");
  Require((type.is_null() || type == "BPE") && vocabulary.is_object() && merges.is_array(), path,
          "requires a BPE with vocab and merges, got the model {}", Brief(type));
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = Member(model, key);
    Require(value.is_null() || value == "" || value == 0, path, "requires a BPE without {}, got {}",
            key, Brief(value));
  }
  CharacterBpe::Parts parts{.numbers = ParseTokenNumbers(vocabulary.dump(), path),
                            .spaces = SpacesOf(json, path),
                            .byte_fallback = FlagOf(model, "byte_fallback", path),
                            .fuse_unknown = FlagOf(model, "fuse_unk", path),
                            .ignore_merges = FlagOf(model, "ignore_merges", path),
                            .decodes_bytes = DecodesBytes(json),
                            .strips_first_space = StripsFirstSpace(json, path)};
  for (const Json& merge : merges) parts.merges.push_back(MergeOf(merge, path));
  if (unknown.is_null()) return parts;
  const auto found =
      unknown.is_string() ? parts.numbers.find(unknown.get<std::string>()) : parts.numbers.end();
  Require(found != parts.numbers.end(), path, "requires an unk_token of the vocabulary, got {}",
          Brief(unknown));
  parts.unknown = found->second;
  return parts;
}

}  // namespace torus::data
