#include "data/text/bpe_json.h"

#include <nlohmann/json.hpp>

#include "data/text/added_tokens.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {
namespace {

using io::Member;
using Json = nlohmann::json;

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
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
                          "byte_fallback", "ignore_merges"})
    RequireUnset(model, key, path);
  return model;
}

TokenNumbers NumbersOf(const Json& vocabulary, const std::vector<SpecialToken>& added,
                       const std::string& path) {
  TokenNumbers numbers = ParseTokenNumbers(vocabulary.dump(), path);
  AddNumbers(added, path, &numbers);
  return numbers;
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
  BpeJson bpe{.added = ParseAddedTokens(Member(json, "added_tokens"), path)};
  bpe.numbers = NumbersOf(Member(model, "vocab"), bpe.added, path);
  for (const Json& merge : Member(model, "merges")) bpe.merges += MergeLine(merge, path) + "\n";
  return bpe;
}

}  // namespace torus::data
