#include "data/text/bpe_json.h"

#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {
namespace {

using io::Member;
using Json = nlohmann::json;

constexpr uint64_t kMostTokens = uint64_t{1} << 24;

bool IsUnset(const Json& value) {
  return value.is_null() || value == false || value == "" || value == 0;
}

void RequireUnset(const Json& json, const char* key, const std::string& path) {
  const Json& value = Member(json, key);
  Require(IsUnset(value), path, "requires a BPE that cuts texts as GPT-2's, got {}: {}", key,
          io::Brief(value));
}

// The model, if it is of the kind that is implemented here.
const Json& ModelOf(const Json& json, const std::string& path) {
  const Json &model = Member(json, "model"), &type = Member(model, "type"),
             &before = Member(json, "pre_tokenizer"), &regex = Member(before, "use_regex");
  Require((type.is_null() || type == "BPE") && Member(model, "vocab").is_object() &&
              Member(model, "merges").is_array() && Member(before, "type") == "ByteLevel" &&
              (regex.is_null() || regex == true),
          path, "requires a byte-level BPE: a model with vocab and merges behind ByteLevel");
  RequireUnset(json, "normalizer", path);
  RequireUnset(before, "add_prefix_space", path);
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
                          "byte_fallback", "ignore_merges"})
    RequireUnset(model, key, path);
  return model;
}

SpecialToken AddedToken(const Json& token, const std::string& path) {
  const Json &content = Member(token, "content"), &id = Member(token, "id");
  Require(content.is_string() && content != "" && id.is_number_unsigned() && id < kMostTokens, path,
          "requires added_tokens of a content and an id, got {} and {}", io::Brief(content),
          io::Brief(id));
  for (const char* key : {"rstrip", "single_word"})
    Require(IsUnset(Member(token, key)), path, "requires added_tokens without {}, but {} has it",
            key, io::Brief(content));
  return {content.get<std::string>(), id.get<int32_t>(), Member(token, "lstrip") == true};
}

std::vector<SpecialToken> AddedTokens(const Json& tokens, const std::string& path) {
  Require(tokens.is_null() || tokens.is_array(), path, "requires a list of added_tokens, got {}",
          io::Brief(tokens));
  std::vector<SpecialToken> added;
  for (const Json& token : tokens) added.push_back(AddedToken(token, path));
  return added;
}

TokenNumbers NumbersOf(Json vocabulary, const std::vector<SpecialToken>& added,
                       const std::string& path) {
  for (const SpecialToken& token : added) {
    const auto [at, fresh] = vocabulary.emplace(token.text, token.number);
    Require(fresh || *at == token.number, path, "requires one number for {}, got {} and {}",
            io::Printable(token.text), io::Brief(*at), token.number);
  }
  return ParseVocabularyJson(vocabulary.dump(), path);
}

std::string MergeLine(const Json& merge, const std::string& path) {
  const bool pair =
      merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
  Require(pair || merge.is_string(), path, "requires merges of two strings, got {}",
          io::Brief(merge));
  const std::string line = pair ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                                : merge.get<std::string>();
  Require(line.find_first_of("\r\n") == line.npos, path,
          "requires merges of byte symbols, got a line's end in one");
  return line;
}

}  // namespace

BpeJson ParseBpeJson(std::string_view text, const std::string& path) {
  const Json json = io::ParseJsonObject(text, path);
  const Json& model = ModelOf(json, path);
  BpeJson bpe{.added = AddedTokens(Member(json, "added_tokens"), path)};
  bpe.numbers = NumbersOf(Member(model, "vocab"), bpe.added, path);
  for (const Json& merge : Member(model, "merges")) bpe.merges += MergeLine(merge, path) + "\n";
  return bpe;
}

}  // namespace torus::data
