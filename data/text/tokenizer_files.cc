#include "data/text/tokenizer_files.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "data/text/byte_symbols.h"
#include "data/text/byte_tokenizer.h"
#include "data/text/char_tokenizer.h"
#include "data/text/open_tokenizer.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/one_commit.h"

namespace torus::data {
namespace {

using io::Member;
using Json = nlohmann::json;

constexpr const char *kTokenizer = "tokenizer.json", *kConfig = "tokenizer_config.json";
constexpr size_t kMostCharacters = 0x110000;

// The string of a token in tokenizer.json.
std::string NameOf(const Tokenizer& tokenizer, int32_t token) {
  return tokenizer.name() == "bytes" ? SymbolOfByte(static_cast<uint8_t>(token))
                                     : tokenizer.Decode({&token, 1});
}

std::string TokenizerJson(const Tokenizer& tokenizer) {
  Json vocabulary = Json::object();
  for (int32_t token = 0; token < tokenizer.vocabulary(); ++token)
    vocabulary[NameOf(tokenizer, token)] = token;
  const Json bytes = {{"type", "ByteLevel"},
                      {"add_prefix_space", false},
                      {"trim_offsets", false},
                      {"use_regex", false}};
  const bool is_bytes = tokenizer.name() == "bytes";
  const Json json = {{"version", "1.0"},
                     {"added_tokens", Json::array()},
                     {"pre_tokenizer", is_bytes ? bytes : Json()},
                     {"decoder", is_bytes ? bytes : Json{{"type", "Fuse"}}},
                     {"model",
                      {{"type", "BPE"},
                       {"fuse_unk", false},
                       {"byte_fallback", false},
                       {"vocab", vocabulary},
                       {"merges", Json::array()}}}};
  return json.dump(1) + "\n";
}

std::string ConfigJson(const char* tokenizer_class) {
  return Json{{"tokenizer_class", tokenizer_class}}.dump() + "\n";
}

// The folder's own tokenizer_config.json, whose settings change what a text is cut into; or one of
// this class.
std::string ConfigOfFolder(const std::string& folder, const char* tokenizer_class) {
  const std::string path = folder + "/" + kConfig;
  if (!std::filesystem::exists(path)) return ConfigJson(tokenizer_class);
  Json config = io::ReadJsonObject(path);
  if (Member(config, "tokenizer_class").is_null()) config["tokenizer_class"] = tokenizer_class;
  return config.dump(2) + "\n";
}

// The strings of a vocabulary, by number.
std::vector<std::string> NamesOf(const Json& vocabulary, const std::string& where) {
  Require(vocabulary.size() <= kMostCharacters, where, "requires at most {} tokens, got {}",
          kMostCharacters, vocabulary.size());
  std::vector<std::string> names(vocabulary.size());
  for (const auto& [name, number] : vocabulary.items()) {
    Require(number.is_number_unsigned() && number < names.size() && !name.empty() &&
                names[number.get<size_t>()].empty(),
            where, "requires a number of its own below {} for each token, got {} for {}",
            names.size(), io::Brief(number), io::Printable(name));
    names[number.get<size_t>()] = name;
  }
  return names;
}

bool HasMergesFile(const std::string& folder) {
  return std::filesystem::exists(folder + "/merges.txt") ||
         std::filesystem::exists(folder + "/vocab.bpe");
}

bool HasMerges(const std::string& text, const std::string& where) {
  const Json merges = Member(Member(io::ParseJsonObject(text, where), "model"), "merges");
  return merges.is_array() && !merges.empty();
}

// "gpt2", "roberta" or "json", according to tokenizer_config.json; `otherwise` if it names neither.
std::string BpeOfConfig(const std::string& folder, const std::string& otherwise) {
  const std::string path = folder + "/" + kConfig;
  if (!std::filesystem::exists(path)) return otherwise;
  const Json named = Member(io::ReadJsonObject(path), "tokenizer_class");
  if (named.is_null()) return otherwise;
  for (const char* suffix : {"", "Fast"}) {
    if (named == std::string("GPT2Tokenizer") + suffix) return "gpt2";
    if (named == std::string("RobertaTokenizer") + suffix) return "roberta";
    if (named == std::string("LlamaTokenizer") + suffix) return "json";
  }
  // The class that transformers uses for any tokenizer.json.
  Require(named == "PreTrainedTokenizerFast" || named == "TokenizersBackend", path,
          "requires the tokenizer_class GPT2Tokenizer, RobertaTokenizer or LlamaTokenizer, got {}",
          io::Brief(named));
  return otherwise;
}

}  // namespace

std::map<std::string, std::string> TokenizerFiles(const Tokenizer& tokenizer,
                                                  const std::string& vocabulary_dir) {
  if (tokenizer.name() == "chars" || tokenizer.name() == "bytes")
    return {{kTokenizer, TokenizerJson(tokenizer)},
            {kConfig, ConfigJson("PreTrainedTokenizerFast")}};
  std::map<std::string, std::string> files;
  const bool roberta = tokenizer.name() == "roberta";
  for (const auto& [from, to] : VocabularyFiles(vocabulary_dir, tokenizer.name()))
    files[to] = io::InputFile(from).ReadAll();
  const bool any = tokenizer.name() == "json";
  files[kConfig] = ConfigOfFolder(vocabulary_dir, any       ? "PreTrainedTokenizerFast"
                                                  : roberta ? "RobertaTokenizer"
                                                            : "GPT2Tokenizer");
  return files;
}

bool HasTokenizer(const std::string& folder) {
  return HasMergesFile(folder) || std::filesystem::exists(folder + "/" + kTokenizer);
}

std::unique_ptr<Tokenizer> ParseTokenizerJson(std::string_view text, const std::string& where) {
  const Json json = io::ParseJsonObject(text, where), model = Member(json, "model"),
             merges = Member(model, "merges"), vocabulary = Member(model, "vocab");
  Require(Member(model, "type") == "BPE" && merges.is_array() && merges.empty() &&
              vocabulary.is_object(),
          where, "requires a byte-level BPE, or a BPE without merges, of characters or bytes");
  const std::vector<std::string> names = NamesOf(vocabulary, where);
  std::unique_ptr<Tokenizer> tokenizer;
  if (Member(Member(json, "decoder"), "type") == "ByteLevel") {
    tokenizer = std::make_unique<ByteTokenizer>();
  } else {
    std::string alphabet;
    for (const std::string& name : names) alphabet += name;
    tokenizer = std::make_unique<CharTokenizer>(alphabet);
  }
  bool same = static_cast<size_t>(tokenizer->vocabulary()) == names.size();
  for (size_t token = 0; same && token < names.size(); ++token)
    same = NameOf(*tokenizer, static_cast<int32_t>(token)) == names[token];
  Require(same, where, "requires the characters in ascending order, or all bytes");
  return tokenizer;
}

namespace {

std::unique_ptr<Tokenizer> TokenizerOfCommit(const std::string& folder, const std::string& bpe) {
  if (!HasMergesFile(folder) && HasTokenizer(folder)) {
    const std::string path = folder + "/" + kTokenizer, text = io::InputFile(path).ReadAll();
    if (!HasMerges(text, path)) return ParseTokenizerJson(text, path);
  }
  const std::string name = BpeOfConfig(folder, bpe);
  if (name == "json") return OpenJson(folder);
  if (name == "roberta") return OpenRoberta(folder);
  return OpenGpt2(folder);
}

}  // namespace

std::unique_ptr<Tokenizer> TokenizerOfFolder(const std::string& folder, const std::string& bpe) {
  return io::OpenOneCommit(folder,
                           [&](const std::string& at) { return TokenizerOfCommit(at, bpe); });
}

}  // namespace torus::data
