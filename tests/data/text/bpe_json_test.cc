// A byte-level BPE whose folder has tokenizer.json alone.
#include "data/text/bpe_json.h"

#include <gtest/gtest.h>

#include "data/text/open_tokenizer.h"
#include "data/text/tokenizer_files.h"
#include "tests/data/text/small_bpe.h"
#include "tests/data/text/tokenizer_json.h"

namespace torus::data {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

const std::vector<std::string> kRoberta = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};  // 258 ...

// The small BPE of kRoberta, as tokenizer.json.
Json Small(const std::string& dir, MergesAs form = MergesAs::kPairs) {
  WriteSmallBpe(dir, kRoberta);
  const Json json = BpeTokenizerJson(dir + "/vocab.json", dir + "/merges.txt", form, kRoberta);
  std::filesystem::remove(dir + "/vocab.json");
  std::filesystem::remove(dir + "/merges.txt");
  return json;
}

Ids WithSpecials(const BpeTokenizer& tokenizer, const std::string& text) {
  Ids ids;
  tokenizer.EncodeWithSpecials(text, &ids);
  return ids;
}

TEST(BpeJson, IsReadInBothForms) {
  const std::string dir = TestFolder();
  for (const MergesAs form : {MergesAs::kStrings, MergesAs::kPairs}) {
    WriteText(dir, "tokenizer.json", Small(dir, form).dump());
    const auto tokenizer = OpenRoberta(dir);
    EXPECT_EQ(tokenizer->vocabulary(), 263);
    EXPECT_EQ(tokenizer->Encode("ab ab a"), (Ids{256, 257, ' ', 'a'}));
    EXPECT_EQ(WithSpecials(*tokenizer, "ab  <mask> ab"), (Ids{256, 262, 257}));
    EXPECT_EQ(TokenizerOfFolder(dir, "roberta")->Encode(" ab"), (Ids{257}));
    EXPECT_EQ(TokenizerFiles(*tokenizer, dir).at("tokenizer.json"), Small(dir, form).dump());
  }
  ExpectBadInput([&] { OpenGpt2(dir); }, dir + "/tokenizer.json", "special token <|endoftext|>");
}

// RoBERTa's own tokenizer puts tokens around texts itself.
TEST(BpeJson, ThatEndsTextsByATokenIsOpenedAsRobertasAlone) {
  const std::string dir = TestFolder();
  Json json = Small(dir);
  json["post_processor"] = {
      {"type", "RobertaProcessing"}, {"sep", {"</s>", 260}}, {"cls", {"<s>", 258}}};
  WriteText(dir, "tokenizer.json", json.dump());
  EXPECT_EQ(OpenRoberta(dir)->Encode("ab"), (Ids{256}));
  ExpectBadInput([&] { OpenJson(dir); }, dir + "/tokenizer.json",
                 "no token behind a text, got the post_processor \"RobertaProcessing\"");
}

// Numbers of their own behind the vocabulary; what is added is found in a text.
TEST(BpeJson, AddedTokensExtendTheVocabulary) {
  const std::string dir = TestFolder();
  Json json = Small(dir);
  json["model"]["vocab"].erase("<mask>");
  json["added_tokens"].push_back({{"id", 263}, {"content", "<new>"}, {"lstrip", true}});
  WriteText(dir, "tokenizer.json", json.dump());
  const auto tokenizer = OpenRoberta(dir);
  EXPECT_EQ(tokenizer->vocabulary(), 264);
  EXPECT_EQ(WithSpecials(*tokenizer, "ab <new><mask>"), (Ids{256, 263, 262}));
  EXPECT_EQ(tokenizer->Decode(Ids{263, 262}), "<new><mask>");
}

// A pre-tokenizer of parts of these types.
Json Sequence(const std::vector<std::string>& types) {
  Json parts = Json::array();
  for (const std::string& type : types) parts.push_back({{"type", type}});
  return {{"type", "Sequence"}, {"pretokenizers", parts}};
}

TEST(BpeJson, RefusesWhatCutsTextsOtherwise) {
  const std::string dir = TestFolder();
  const Json good = Small(dir);
  const auto expect = [&](const char* at, const Json& value, const std::string& words) {
    Json json = good;
    json[Json::json_pointer(at)] = value;
    WriteText(dir, "tokenizer.json", json.dump());
    ExpectBadInput([&] { OpenRoberta(dir); }, "[" + dir + "/tokenizer.json", words);
  };
  ParseBpeJson(good.dump(), "t.json");
  const std::string byte_level = "requires a byte-level BPE";
  expect("/model/type", "Unigram", byte_level);
  expect("/model/vocab", Json::array(), byte_level);
  expect("/model/merges", "a b", byte_level);
  expect("/pre_tokenizer/type", "Whitespace", byte_level);
  expect("/pre_tokenizer/use_regex", false, byte_level);
  expect("/pre_tokenizer", Sequence({"Split", "ByteLevel"}),
         R"(got the pre_tokenizer "Sequence" of "Split" and "ByteLevel")");
  expect("/pre_tokenizer", Sequence({"Digits"}), R"(got the pre_tokenizer "Sequence" of "Digits")");
  expect("/pre_tokenizer", Sequence({"Digits", "ByteLevel"}),
         "true or false for individual_digits, got null");
  expect("/pre_tokenizer/add_prefix_space", "no", "true or false for add_prefix_space, got \"no\"");
  expect("/normalizer", {{"type", "NFC"}}, R"(got the normalizer "NFC")");
  expect("/model/dropout", 0.1, "got dropout: 0.1");
  expect("/model/ignore_merges", "yes", "got ignore_merges: \"yes\"");
  expect("/model/end_of_word_suffix", "</w>", R"(got end_of_word_suffix: "</w>")");
  expect("/model/merges/0", "a\nb", "a line's end");
  expect("/model/merges/0", 7, "merges of two strings, got 7");
  expect("/model/merges/0", {"a", "b", "c"}, "merges of two strings, got a list");
  expect("/model/vocab/ab", 300, "the numbers 0 to 262");
  expect("/added_tokens/0/id", 7, "one number for <s>, got 258 and 7");
  expect("/added_tokens/0/id", -1, "a content and an id, got \"<s>\" and -1");
  expect("/added_tokens/0/content", "", "a content and an id");
  expect("/added_tokens/4/rstrip", 3, "true or false for rstrip, got 3");
  expect("/added_tokens", 3, "a list of added_tokens, got 3");
  expect("/model/merges/1", "x ab", "a number for 'xab'");
}

}  // namespace
}  // namespace torus::data
