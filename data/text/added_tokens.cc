#include "data/text/added_tokens.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "data/files/file.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::data {
namespace {

using io::Member;
using Json = nlohmann::json;

constexpr int64_t kMostTokens = int64_t{1} << 24;

// The object of a file in `dir`; null if there is no such file.
Json ObjectOf(const std::string& dir, const char* name) {
  const std::string path = dir + "/" + name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  const std::vector<uint8_t> bytes = ReadFile(path);
  return io::ParseJsonObject({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

bool FlagOf(const Json& json, const char* key, const std::string& path) {
  const Json& value = Member(json, key);
  Require(value.is_null() || value.is_boolean(), path, "requires true or false for {}, got {}", key,
          io::Brief(value));
  return value == true;
}

SpecialToken TokenOf(const Json& token, const Json& id, const std::string& path) {
  const Json& content = Member(token, "content");
  Require(content.is_string() && content != "" && id.is_number_unsigned() && id < kMostTokens, path,
          "requires added tokens of a content and an id, got {} and {}", io::Brief(content),
          io::Brief(id));
  for (const char* key : {"rstrip", "single_word"})
    Require(!FlagOf(token, key, path), path, "requires added tokens without {}, but {} has it", key,
            io::Brief(content));
  return {content.get<std::string>(), id.get<int32_t>(), FlagOf(token, "lstrip", path),
          FlagOf(token, "special", path)};
}

// "50257" as a number; null if it is none.
Json NumberOf(const std::string& key) {
  const bool digits =
      !key.empty() && key.size() < 9 && key.find_first_not_of("0123456789") == key.npos;
  return digits ? Json(std::stoul(key)) : Json();
}

// tokenizer_config.json: {"50257": {"content": "<new>", ...}}.
std::vector<SpecialToken> DecoderTokens(const Json& decoder, const std::string& path) {
  Require(decoder.is_null() || decoder.is_object(), path,
          "requires an object as added_tokens_decoder, got {}", io::Brief(decoder));
  std::vector<SpecialToken> tokens;
  for (const auto& [key, token] : decoder.items())
    tokens.push_back(TokenOf(token, NumberOf(key), path));
  return tokens;
}

void AddNames(const Json& value, std::set<std::string>& names) {
  if (value.is_array())
    for (const Json& one : value) AddNames(one, names);
  const Json& content = value.is_object() ? Member(value, "content") : value;
  if (content.is_string()) names.insert(content.get<std::string>());
}

// The texts of special_tokens_map.json: {"bos_token": "<s>", "mask_token": {"content": ...}, ...}.
std::set<std::string> SpecialNames(const Json& map) {
  std::set<std::string> names;
  if (map.is_object())
    for (const auto& [what, value] : map.items()) AddNames(value, names);
  return names;
}

// added_tokens.json: {"<new>": 50257}.
std::vector<SpecialToken> FileTokens(const Json& numbers, const std::set<std::string>& special,
                                     const std::string& path) {
  std::vector<SpecialToken> tokens;
  if (!numbers.is_object()) return tokens;
  for (const auto& [text, id] : numbers.items())
    tokens.push_back(TokenOf({{"content", text}, {"special", special.contains(text)}}, id, path));
  return tokens;
}

void Take(std::vector<SpecialToken> more, const std::string& path,
          std::vector<SpecialToken>& added) {
  for (SpecialToken& token : more) {
    const auto known = std::ranges::find(added, token.text, &SpecialToken::text);
    Require(known == added.end() || known->number == token.number, path,
            "requires one number for {}, got {} and {}", io::Printable(token.text),
            known == added.end() ? 0 : known->number, token.number);
    if (known == added.end()) added.push_back(std::move(token));
  }
}

}  // namespace

std::vector<SpecialToken> ParseAddedTokens(const Json& list, const std::string& path) {
  Require(list.is_null() || list.is_array(), path, "requires a list of added_tokens, got {}",
          io::Brief(list));
  std::vector<SpecialToken> added;
  for (const Json& token : list) added.push_back(TokenOf(token, Member(token, "id"), path));
  return added;
}

TokenizerSettings ReadTokenizerSettings(const std::string& dir) {
  const std::string json_path = dir + "/tokenizer.json",
                    config_path = dir + "/tokenizer_config.json",
                    file_path = dir + "/added_tokens.json";
  const Json json = ObjectOf(dir, "tokenizer.json"),
             config = ObjectOf(dir, "tokenizer_config.json");
  TokenizerSettings settings;
  Take(ParseAddedTokens(Member(json, "added_tokens"), json_path), json_path, settings.added);
  Take(DecoderTokens(Member(config, "added_tokens_decoder"), config_path), config_path,
       settings.added);
  Take(FileTokens(ObjectOf(dir, "added_tokens.json"),
                  SpecialNames(ObjectOf(dir, "special_tokens_map.json")), file_path),
       file_path, settings.added);
  const Json& before = Member(json, "pre_tokenizer");
  if (!Member(before, "add_prefix_space").is_null())
    settings.prefix_space = FlagOf(before, "add_prefix_space", json_path);
  if (!Member(config, "add_prefix_space").is_null())
    settings.prefix_space = FlagOf(config, "add_prefix_space", config_path);
  for (const char* key : {"add_bos_token", "add_eos_token"})
    Require(
        !FlagOf(config, key, config_path), config_path,
        "asks for {}, which is not implemented: texts begin and end without tokens of their own",
        key);
  return settings;
}

void AddNumbers(const std::vector<SpecialToken>& added, const std::string& path,
                TokenNumbers* numbers) {
  for (const SpecialToken& token : added) {
    const auto [at, fresh] = numbers->emplace(token.text, token.number);
    Require(fresh || at->second == token.number, path, "requires one number for {}, got {} and {}",
            io::Printable(token.text), at->second, token.number);
  }
  CheckNumbers(*numbers, path);
}

}  // namespace torus::data
