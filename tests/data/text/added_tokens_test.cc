// Tokens that somebody has added to a tokenizer, wherever the folder has them.
#include "data/text/added_tokens.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/text/gpt2_pattern.h"
#include "data/text/open_tokenizer.h"
#include "data/text/tokenizer_files.h"
#include "tests/data/text/small_bpe.h"
#include "tests/data/text/tokenizer_json.h"

namespace torus::data {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

// vocab.json and merges.txt: 256 "ab", 257 " ab", 258 <|endoftext|>.
std::string Folder() {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<|endoftext|>"});
  return dir;
}

Json Added(int id, const std::string& content, bool special) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

Ids WithSpecials(const BpeTokenizer& tokenizer, const std::string& text) {
  Ids ids;
  tokenizer.EncodeWithSpecials(text, &ids);
  return ids;
}

// An added word is one token in every text, a special token only where they are recognised.
void ExpectBoth(const std::string& dir) {
  const auto tokenizer = OpenGpt2(dir);
  EXPECT_EQ(tokenizer->vocabulary(), 261);
  EXPECT_EQ(tokenizer->Encode("abtorusab"), (Ids{256, 259, 256}));
  EXPECT_EQ(tokenizer->Encode("ab<x>").size(), 4u) << "three bytes of plain text";
  EXPECT_EQ(WithSpecials(*tokenizer, "ab<x>torus<|endoftext|>"), (Ids{256, 260, 259, 258}));
  EXPECT_EQ(tokenizer->Decode(Ids{259, 260}), "torus<x>");
}

// As transformers 4 leaves a folder: the vocabulary's files, and tokenizer.json beside them.
TEST(AddedTokens, AreReadFromTokenizerJsonBesideAVocabulary) {
  const std::string dir = Folder();
  WriteText(dir, "tokenizer.json",
            Json{{"added_tokens",
                  {Added(258, "<|endoftext|>", true), Added(259, "torus", false),
                   Added(260, "<x>", true)}}}
                .dump());
  ExpectBoth(dir);
}

TEST(AddedTokens, AreReadFromTheDecoderOfTokenizerConfig) {
  const std::string dir = Folder();
  WriteText(dir, "tokenizer_config.json",
            Json{{"added_tokens_decoder",
                  {{"258", Added(258, "<|endoftext|>", true)},
                   {"259", Added(259, "torus", false)},
                   {"260", Added(260, "<x>", true)}}}}
                .dump());
  ExpectBoth(dir);
}

TEST(AddedTokens, AreReadFromAFileOfTheirOwn) {
  const std::string dir = Folder();
  WriteText(dir, "added_tokens.json", R"({"<x>": 260, "torus": 259})");
  WriteText(dir, "special_tokens_map.json",
            R"({"bos_token": "<|endoftext|>", "additional_special_tokens": ["<x>"]})");
  ExpectBoth(dir);
}

TEST(AddedTokens, GoWithTheFilesOfAModel) {
  const std::string dir = Folder(), copy = dir + "/copy";
  WriteText(dir, "added_tokens.json", R"({"<x>": 260, "torus": 259})");
  WriteText(dir, "special_tokens_map.json", R"({"mask_token": {"content": "<x>"}})");
  WriteText(dir, "tokenizer_config.json", R"({"add_prefix_space": true})");
  std::filesystem::create_directories(copy);
  for (const auto& [name, content] : TokenizerFiles(*OpenGpt2(dir), dir))
    WriteText(copy, name, content);
  const auto tokenizer = OpenGpt2(copy);
  EXPECT_EQ(WithSpecials(*tokenizer, "ab<x>torus"), (Ids{257, 260, 259}));
}

// "ab" is " ab" then, at the beginning and behind a token that is cut out; a space is not doubled.
TEST(PrefixSpace, StandsBeforeEachPartOfAText) {
  const std::string dir = Folder();
  EXPECT_EQ(OpenGpt2(dir)->Encode("ab"), (Ids{256}));
  WriteText(dir, "tokenizer_config.json", R"({"add_prefix_space": true})");
  const auto tokenizer = OpenGpt2(dir);
  EXPECT_EQ(tokenizer->Encode("ab"), (Ids{257}));
  EXPECT_EQ(tokenizer->Encode(" ab"), (Ids{257}));
  EXPECT_EQ(tokenizer->Encode(""), Ids{});
  EXPECT_EQ(WithSpecials(*tokenizer, "ab<|endoftext|>ab"), (Ids{257, 258, 257}));
}

TEST(PrefixSpace, TheConfigDecides) {
  const std::string dir = Folder();
  Json json = BpeTokenizerJson(dir + "/vocab.json", dir + "/merges.txt", MergesAs::kPairs,
                               {"<|endoftext|>"});
  json["pre_tokenizer"]["add_prefix_space"] = true;
  for (const char* name : {"vocab.json", "merges.txt"}) std::filesystem::remove(dir + "/" + name);
  WriteText(dir, "tokenizer.json", json.dump());
  EXPECT_EQ(OpenGpt2(dir)->Encode("ab"), (Ids{257}));
  WriteText(dir, "tokenizer_config.json", R"({"add_prefix_space": false})");
  EXPECT_EQ(OpenGpt2(dir)->Encode("ab"), (Ids{256}));
}

// The class of a model asks the config alone, the class of any tokenizer.json that file.
TEST(PrefixSpace, TheClassSaysWhichFileDecides) {
  const std::string dir = Folder();
  Json json = BpeTokenizerJson(dir + "/vocab.json", dir + "/merges.txt", MergesAs::kPairs,
                               {"<|endoftext|>"});
  const auto first = [&](bool in_json, const std::string& config) {
    json["pre_tokenizer"]["add_prefix_space"] = in_json;
    WriteText(dir, "tokenizer.json", json.dump());
    WriteText(dir, "tokenizer_config.json", config);
    return OpenGpt2(dir)->Encode("ab")[0];
  };
  for (const char* name : {"GPT2Tokenizer", "GPT2TokenizerFast", "RobertaTokenizer"}) {
    const std::string begin = fmt::format(R"({{"tokenizer_class": "{}")", name);
    EXPECT_EQ(first(true, begin + "}"), 256) << name;
    EXPECT_EQ(first(true, begin + R"(, "add_prefix_space": false})"), 256) << name;
    EXPECT_EQ(first(false, begin + R"(, "add_prefix_space": true})"), 257) << name;
  }
  for (const char* name : {"PreTrainedTokenizerFast", "TokenizersBackend"}) {
    const std::string begin = fmt::format(R"({{"tokenizer_class": "{}")", name);
    EXPECT_EQ(first(true, begin + "}"), 257) << name;
    EXPECT_EQ(first(true, begin + R"(, "add_prefix_space": false})"), 257) << name;
    EXPECT_EQ(first(false, begin + R"(, "add_prefix_space": true})"), 256) << name;
  }
}

// bos_token, mask_token, ...: special where the vocabulary has them, whoever names them.
TEST(AddedTokens, WhatTheSettingsNameIsSpecial) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<|endoftext|>", "<x>", "<y>", "<z>"});
  WriteText(
      dir, "tokenizer_config.json",
      R"({"pad_token": "<x>", "extra_special_tokens": [{"content": "<y>", "rstrip": true}]})");
  WriteText(dir, "special_tokens_map.json", R"({"mask_token": "<z>", "unk_token": "<nowhere>"})");
  const auto tokenizer = OpenGpt2(dir);
  EXPECT_EQ(WithSpecials(*tokenizer, "<x>ab<y>  <z> <nowhere>").size(), 14u);
  EXPECT_EQ(WithSpecials(*tokenizer, "<x>ab<y>  <z>"), (Ids{259, 256, 260, 261}));
  EXPECT_EQ(tokenizer->Encode("<x>").size(), 3u) << "plain text";
}

TEST(AddedTokens, WhatIsNotHonouredIsRefusedByName) {
  const std::string dir = Folder();
  const auto refuses = [&](const char* file, const std::string& text, const std::string& says) {
    WriteText(dir, file, text);
    ExpectBadInput([&] { OpenGpt2(dir); }, dir, says);
    std::filesystem::remove(dir + "/" + file);
  };
  refuses("tokenizer_config.json", R"({"add_bos_token": true})",
          "gpt2 requires the add_bos_token of tokenizer_config.json to be false, got true");
  refuses("tokenizer_config.json", R"({"add_eos_token": true})",
          "requires add_eos_token to be false, got true");
  refuses("tokenizer_config.json", R"({"add_prefix_space": "yes"})",
          "requires true or false for add_prefix_space");
  refuses("tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "<x>"}}})",
          "requires added tokens of a content and an id");
  refuses("tokenizer_config.json",
          R"({"added_tokens_decoder": {"259": {"content": "<x>", "rstrip": 1}}})",
          "requires true or false for rstrip, got 1");
  refuses("added_tokens.json", R"({"ab": 300})", "requires one number for ab, got 256 and 300");
  refuses("added_tokens.json", R"({"<x>": 300})", "requires the numbers 0 to 259");
  refuses("added_tokens.json", R"({"<x>": -1})", "requires added tokens of a content and an id");
}

TEST(AddedTokens, BosBeginsATextOfJsonWhateverTheClass) {
  const std::string dir = Folder();
  for (const char* rest : {"", R"(, "tokenizer_class": "GPT2Tokenizer")"}) {
    WriteText(dir, "tokenizer_config.json",
              fmt::format(R"({{"add_bos_token": true, "bos_token": "<|endoftext|>"{}}})", rest));
    EXPECT_EQ(OpenJson(dir)->beginning(), (Ids{258})) << rest;
  }
}

// The files beside it hold the vocabulary and the merges, but not how a text is cut and changed.
TEST(TokenizerJson, MustCutAsGpt2AlsoBesideAVocabulary) {
  const std::string dir = Folder();
  const Json json = BpeTokenizerJson(dir + "/vocab.json", dir + "/merges.txt", MergesAs::kPairs,
                                     {"<|endoftext|>"});
  WriteText(dir, "tokenizer.json", json.dump());
  EXPECT_EQ(OpenGpt2(dir)->Encode("ab"), (Ids{256}));
  const auto refuses = [&](const char* pointer, const Json& value, const std::string& says) {
    Json other = json;
    other[Json::json_pointer(pointer)] = value;
    WriteText(dir, "tokenizer.json", other.dump());
    ExpectBadInput([&] { OpenGpt2(dir); }, dir + "/tokenizer.json", says);
  };
  refuses("/normalizer", {{"type", "NFC"}}, "got the normalizer \"NFC\"");
  refuses("/model/dropout", 0.1, "got dropout: 0.1");
  refuses("/model/ignore_merges", 2, "got ignore_merges: 2");
  refuses("/model/type", "WordPiece", "got the model \"WordPiece\"");
  refuses("/pre_tokenizer/type", "Whitespace", "got the pre_tokenizer \"Whitespace\"");
  refuses("/pre_tokenizer/use_regex", false, "got use_regex: false");
}

// Digits, and whole pieces, cut texts also where vocabulary and merges have files of their own; but
// not where transformers makes the tokenizer of these files alone.
TEST(TokenizerJson, CutsAlsoBesideAVocabulary) {
  const std::string dir = Folder();
  Json json = BpeTokenizerJson(dir + "/vocab.json", dir + "/merges.txt", MergesAs::kPairs,
                               {"<|endoftext|>"});
  const Json bytes = json["pre_tokenizer"];
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", true}}, bytes}}};
  WriteText(dir, "tokenizer.json", json.dump());
  EXPECT_EQ(OpenGpt2(dir)->Encode("ab 1"), (Ids{256, ' ', '1'}));
  WriteText(dir, "tokenizer_config.json", R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  EXPECT_EQ(OpenGpt2(dir)->Encode("ab 1"), (Ids{256, ' ', '1'}));
  WriteText(dir, "tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  ExpectBadInput([&] { OpenGpt2(dir); }, dir, "transformers 5 ignores for the tokenizer_class");
  WriteText(dir, "tokenizer_config.json", R"({"add_prefix_space": true})");
  ExpectBadInput([&] { OpenGpt2(dir); }, dir, "requires no add_prefix_space beside Digits");
  json["pre_tokenizer"]["pretokenizers"] = {
      {{"type", "Split"}, {"behavior", "Isolated"}, {"pattern", {{"Regex", kLlama3Expression}}}},
      {{"type", "ByteLevel"}, {"use_regex", false}}};
  json["model"]["ignore_merges"] = true;
  WriteText(dir, "tokenizer.json", json.dump());
  ExpectBadInput([&] { OpenGpt2(dir); }, dir,
                 "requires no add_prefix_space beside Llama 3's Split");
  WriteText(dir, "tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  ExpectBadInput([&] { OpenGpt2(dir); }, dir, "asks for Llama 3's Split and ignore_merges, which");
}

}  // namespace
}  // namespace torus::data
