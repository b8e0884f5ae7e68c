// The numbers of a small byte-level BPE, and of one over characters, in many variants,
// held against those of Hugging Face's tokenizers (make_tokenizers.py).

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/files/lines.h"
#include "data/text/open_tokenizer.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

// The fields of a line behind its kind.
std::vector<Json> FieldsOf(const std::vector<std::string_view>& columns) {
  std::vector<Json> fields;
  for (size_t i = 1; i < columns.size(); ++i) fields.push_back(Json::parse(columns[i]));
  return fields;
}

Json Patched(Json document, const Json& patches) {
  for (const Json& patch : patches)
    document =
        document.patch(Json::array({{{"op", "add"}, {"path", patch[0]}, {"value", patch[1]}}}));
  return document;
}

// By both ways to encode, and back.
void ExpectNumbers(const Tokenizer& tokenizer, const std::vector<Json>& text) {
  const std::string given = text[0].get<std::string>();
  Ids with_specials;
  tokenizer.EncodeWithSpecials(given, &with_specials);
  EXPECT_EQ(with_specials, text[1].get<Ids>()) << given;
  EXPECT_EQ(tokenizer.Encode(given), text[2].get<Ids>()) << given;
  EXPECT_EQ(tokenizer.Decode(text[1].get<Ids>()), text[3].get<std::string>()) << given;
}

std::unique_ptr<Tokenizer> Open(const std::string& dir, const Json& base) {
  if (base["decoder"]["type"] == "ByteLevel") return OpenGpt2(dir);
  return OpenJson(dir);
}

TEST(TokenizersGolden, EveryVariantGivesTheReferencesNumbers) {
  std::ifstream file("tests/golden/tokenizers.tsv");
  Json base;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string name;
  int cases = 0, texts = 0;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string_view> columns = Columns(line);
    const std::vector<Json> fields = FieldsOf(columns);
    if (columns[0] == "base") {
      base = fields[0];
    } else if (columns[0] == "case") {
      const std::string dir = TestFolder();
      name = fields[0].get<std::string>();
      WriteText(dir, "tokenizer.json", Patched(base, fields[1]).dump());
      tokenizer.reset();
      ASSERT_NO_THROW(tokenizer = Open(dir, base)) << name;
      ++cases;
    } else {
      SCOPED_TRACE(name);
      ExpectNumbers(*tokenizer, fields);
      ++texts;
    }
  }
  EXPECT_EQ(cases, 26);
  EXPECT_EQ(texts, 754);
}

// Around texts that stand alone, and between other tokens.
TEST(TokenizersGolden, ATextBeginsAndEndsAsTheFilesSay) {
  const Json merge = {
      {"type", "BPE"},
      {"byte_fallback", true},
      {"unk_token", "<unk>"},
      {"vocab", {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {"\u2581", 3}, {"a", 4}, {"\u2581a", 5}}},
      {"merges", {"\u2581 a"}}};
  const Json start = {{"type", "TemplateProcessing"},
                      {"single",
                       {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
                        {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}}};
  Json json = {
      {"model", merge},
      {"post_processor", start},
      {"normalizer", {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}},
      {"decoder", {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}};
  const std::string dir = TestFolder();
  WriteText(dir, "tokenizer.json", json.dump());
  WriteText(dir, "tokenizer_config.json",
            R"({"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "eos_token": "</s>"})");
  const auto tokenizer = OpenJson(dir);
  EXPECT_EQ(tokenizer->beginning(), Ids{1});
  EXPECT_EQ(tokenizer->end_of_text(), 2);
  EXPECT_EQ(tokenizer->Encode(" a"), Ids{5});
  EXPECT_EQ(tokenizer->Decode(Ids{5, 5}), "a a");
  EXPECT_EQ(tokenizer->DecodeNext(Ids{5, 5}), " a a");
  Ids ids;
  tokenizer->EncodeWith("a</s><s>", {"</s>"}, &ids);
  EXPECT_EQ(ids.front(), 4);
  EXPECT_EQ(ids[1], 2);
  EXPECT_NE(ids.back(), 1);
  Json behind = json;
  behind["post_processor"]["single"].push_back(behind["post_processor"]["single"][0]);
  behind["post_processor"]["single"][2]["SpecialToken"]["id"] = "</s>";
  for (const Json& post_processor :
       {behind["post_processor"],
        Json{{"type", "Sequence"}, {"processors", Json::array({behind["post_processor"]})}}}) {
    behind["post_processor"] = post_processor;
    WriteText(dir, "tokenizer.json", behind.dump());
    ExpectBadInput([&] { OpenJson(dir); }, dir + "/tokenizer.json",
                   "no token behind a text, got the post_processor's \"</s>\"");
  }
  json["normalizer"] = {{"type", "NFKC"}};
  WriteText(dir, "tokenizer.json", json.dump());
  ExpectBadInput([&] { OpenJson(dir); }, dir, "got the normalizer \"NFKC\"");
}

// Without a rule that splits texts, all of one is the piece that may be in the vocabulary; its
// words are none, though merges do not cross their fronts.
TEST(TokenizersGolden, AWholeTextIsAPieceWhereNothingSplitsIt) {
  const Json merge = {{"type", "BPE"},
                      {"byte_fallback", true},
                      {"ignore_merges", true},
                      {"vocab",
                       {{"<unk>", 0},
                        {"\u2581", 1},
                        {"a", 2},
                        {"b", 3},
                        {"\u2581b", 4},
                        {"a\u2581b", 5},
                        {"\u2581a", 6}}},
                      {"merges", {"\u2581 a"}}};
  Json json = {
      {"model", merge},
      {"normalizer", {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}};
  const std::string dir = TestFolder();
  WriteText(dir, "tokenizer.json", json.dump());
  EXPECT_EQ(OpenJson(dir)->Encode("a b"), Ids{5});
  EXPECT_EQ(OpenJson(dir)->Encode("a b b"), (Ids{2, 1, 3, 1, 3}));
  EXPECT_EQ(OpenJson(dir)->Encode(" a"), Ids{6});
  json.erase("normalizer");
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "never"}};
  WriteText(dir, "tokenizer.json", json.dump());
  EXPECT_EQ(OpenJson(dir)->Encode("a b"), (Ids{2, 4}));
}

// A token of the vocabulary that no merge makes stands for its bytes.
TEST(TokenizersGolden, WholePiecesComeBack) {
  std::ifstream file("tests/golden/tokenizers.tsv");
  std::string line;
  std::getline(file, line);
  Json json = FieldsOf(Columns(line))[0];
  const size_t number = json["model"]["vocab"].size();
  json["model"]["vocab"]["\u0120swordfish"] = number;
  json["model"]["ignore_merges"] = true;
  const std::string dir = TestFolder();
  WriteText(dir, "tokenizer.json", json.dump());
  const auto tokenizer = OpenGpt2(dir);
  EXPECT_EQ(tokenizer->Encode(" swordfish"), (Ids{static_cast<int32_t>(number)}));
  EXPECT_EQ(tokenizer->Decode(tokenizer->Encode("a swordfish")), "a swordfish");
}

}  // namespace
}  // namespace torus::data
