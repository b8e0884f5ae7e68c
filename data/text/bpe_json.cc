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

// That nothing which is said here cuts or changes a text in another way than GPT-2's.
void CheckCut(const Json& json, const std::string& path) {
  const Json &model = Member(json, "model"), &type = Member(model, "type"),
             &before = Member(json, "pre_tokenizer"), &cut = Member(before, "type"),
             &regex = Member(before, "use_regex");
  Require(type.is_null() || type == "BPE", path, "requires a byte-level BPE, got the model {}",
          io::Brief(type));
  Require(before.is_null() || cut == "ByteLevel", path,
          "requires a byte-level BPE behind ByteLevel alone, got the pre_tokenizer {}",
          io::Brief(cut));
  Require(regex.is_null() || regex == true, path,
          "requires a byte-level BPE that cuts texts as GPT-2's, got use_regex: {}",
          io::Brief(regex));
  RequireUnset(json, "normalizer", path);
  for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix",
                          "byte_fallback", "ignore_merges"})
    RequireUnset(model, key, path);
}

// The model, if it is of the kind that is implemented here.
const Json& ModelOf(const Json& json, const std::string& path) {
  CheckCut(json, path);
  const Json& model = Member(json, "model");
  Require(Member(model, "vocab").is_object() && Member(model, "merges").is_array() &&
              Member(json, "pre_tokenizer").is_object(),
          path, "requires a byte-level BPE: a model with vocab and merges behind ByteLevel");
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

void CheckBpeJson(std::string_view text, const std::string& path) {
  CheckCut(io::ParseJsonObject(text, path), path);
}

BpeJson ParseBpeJson(std::string_view text, const std::string& path) {
  const Json json = io::ParseJsonObject(text, path);
  const Json& model = ModelOf(json, path);
  BpeJson bpe{.added = ParseAddedTokens(Member(json, "added_tokens"), path)};
  bpe.numbers = NumbersOf(Member(model, "vocab"), bpe.added, path);
  for (const Json& merge : Member(model, "merges")) bpe.merges += MergeLine(merge, path) + "\n";
  return bpe;
}

}  // namespace torus::data
