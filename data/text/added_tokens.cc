#include "data/text/added_tokens.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/text/json_parts.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
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
  return io::ParseJsonObject(io::InputFile(path).ReadAll(), path);
}

// Without its number.
SpecialToken TokenOf(const Json& token, const std::string& path) {
  const bool special = FlagOf(token, "special", path);
  return {.text = Member(token, "content").get<std::string>(),
          .takes_left = FlagOf(token, "lstrip", path),
          .takes_right = FlagOf(token, "rstrip", path),
          .whole_word = FlagOf(token, "single_word", path),
          .normalized = FlagOf(token, "normalized", path, /*absent=*/!special),
          .special = special};
}

SpecialToken TokenOf(const Json& token, const Json& id, const std::string& path) {
  const Json& content = Member(token, "content");
  Require(content.is_string() && content != "" && id.is_number_unsigned() && id < kMostTokens, path,
          "requires added tokens of a content and an id, got {} and {}", io::Brief(content),
          io::Brief(id));
  SpecialToken added = TokenOf(token, path);
  added.number = id.get<int32_t>();
  return added;
}

// tokenizer.json: [{"id": 50257, "content": "<new>", ...}, ...].
std::vector<SpecialToken> ListTokens(const Json& list, const std::string& path) {
  Require(list.is_null() || list.is_array(), path, "requires a list of added_tokens, got {}",
          io::Brief(list));
  std::vector<SpecialToken> added;
  for (const Json& token : list) added.push_back(TokenOf(token, Member(token, "id"), path));
  return added;
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

// A value of special_tokens_map.json or tokenizer_config.json: "<s>", {"content": "<s>", ...}, or a
// list of such.
void AddNamed(const Json& value, const std::string& path, std::vector<SpecialToken>& named) {
  if (value.is_array())
    for (const Json& one : value) AddNamed(one, path, named);
  const Json& content = value.is_object() ? Member(value, "content") : value;
  if (!content.is_string() || content == "") return;
  named.push_back(value.is_object() ? TokenOf(value, path)
                                    : SpecialToken{.text = content.get<std::string>()});
  named.back().special = true;
}

void AddNamedOf(const Json& map, const std::string& path, std::vector<SpecialToken>& named) {
  for (const char* key :
       {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
        "additional_special_tokens", "extra_special_tokens"})
    AddNamed(Member(map, key), path, named);
}

// What a key names in the first of both files that has it; empty if none does.
std::string ContentOf(const Json& config, const Json& map, const char* key) {
  for (const Json* file : {&config, &map}) {
    const Json& value = Member(*file, key);
    const Json& content = value.is_object() ? Member(value, "content") : value;
    if (content.is_string()) return content.get<std::string>();
  }
  return "";
}

// added_tokens.json: {"<new>": 50257}.
std::vector<SpecialToken> FileTokens(const Json& numbers, const std::vector<SpecialToken>& named,
                                     const std::string& path) {
  std::vector<SpecialToken> tokens;
  if (!numbers.is_object()) return tokens;
  for (const auto& [text, id] : numbers.items()) {
    const bool special = std::ranges::find(named, text, &SpecialToken::text) != named.end();
    tokens.push_back(TokenOf({{"content", text}, {"special", special}}, id, path));
  }
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

bool TokenizerSettings::HasClassOfAModel() const {
  return tokenizer_class.starts_with("GPT2Tokenizer") ||
         tokenizer_class.starts_with("RobertaTokenizer");
}

TokenizerSettings ReadTokenizerSettings(const std::string& dir) {
  const std::string json_path = dir + "/tokenizer.json",
                    config_path = dir + "/tokenizer_config.json",
                    file_path = dir + "/added_tokens.json";
  const Json config = ObjectOf(dir, "tokenizer_config.json");
  TokenizerSettings settings;
  const Json map = ObjectOf(dir, "special_tokens_map.json");
  AddNamedOf(config, config_path, settings.named);
  AddNamedOf(map, dir + "/special_tokens_map.json", settings.named);
  settings.bos = ContentOf(config, map, "bos_token");
  settings.eos = ContentOf(config, map, "eos_token");
  Take(ListTokens(Member(ObjectOf(dir, "tokenizer.json"), "added_tokens"), json_path), json_path,
       settings.added);
  Take(DecoderTokens(Member(config, "added_tokens_decoder"), config_path), config_path,
       settings.added);
  Take(FileTokens(ObjectOf(dir, "added_tokens.json"), settings.named, file_path), file_path,
       settings.added);
  if (!Member(config, "add_prefix_space").is_null())
    settings.prefix_space = FlagOf(config, "add_prefix_space", config_path);
  if (const Json& named = Member(config, "tokenizer_class"); named.is_string())
    settings.tokenizer_class = named.get<std::string>();
  settings.begins_with_bos = FlagOf(config, "add_bos_token", config_path);
  Require(!FlagOf(config, "add_eos_token", config_path), config_path,
          "requires add_eos_token to be false, got true: texts end without a token of their own");
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
