#include "data/text/vocabulary.h"

#include <gtest/gtest.h>

#include "data/text/byte_symbols.h"
#include "data/text/open_tokenizer.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

TEST(VocabularyJson, ReadsNumbers) {
  const TokenNumbers numbers = ParseVocabularyJson(R"({"a": 1, "\u0120b": 0, "<s>": 2})", "v");
  EXPECT_EQ(numbers, (TokenNumbers{{"a", 1}, {"\u0120b", 0}, {"<s>", 2}}));
}

TEST(VocabularyJson, RefusesAnythingElse) {
  const auto expect = [](const std::string& text, const std::string& words) {
    ExpectBadInput([&] { ParseVocabularyJson(text, "v.json"); }, "[v.json]", words);
  };
  expect("", "UTF-8 JSON");
  expect("{}", "at least one token");
  expect("3", R"(got a number in "")");
  expect("[1]", "an array");
  expect(R"({"a": {"b": 1}})", "requires one object");
  expect(R"({"a": "b"})", R"(got a string in "a")");
  expect(R"({"a": 1.5})", R"(got a fraction in "a")");
  expect(R"({"a": 1e99})", R"(got a fraction in "a")");
  expect(R"({"a": null})", R"(got null in "a")");
  expect(R"({"a": true})", "got a truth value");
  expect(R"({"a": [[[[)", R"(got an array in "a")");
  expect(R"({"a": -1})", R"(got -1 for "a")");
  expect(R"({"a": 99999999999999999999})", "got a fraction");
  expect(R"({"a": 18446744073709551615})", "requires numbers of 0 to");
  expect(R"({"a": 0, "a": 1})", R"(got "a" twice)");
  expect(R"({"a": 0, "b": 0})", "0 to 1, each once, got 0 twice");
  expect(R"({"a": 0, "b": 2})", "0 to 1, each once, got 2");
  expect(R"({"a": 0)", "something else at byte 8");
  expect("{\"\xff\": 0}", "something else at byte");
  expect(R"({"a": 0} x)", "something else at byte");
}

TEST(FairseqDictionary, NumbersAnew) {
  const TokenNumbers gpt2{{"x", 0}, {"y", 1}};
  EXPECT_EQ(ParseFairseqDictionary("1 50\n0 40\nmadeupword0000 0\n", "d", gpt2),
            (TokenNumbers{{"<s>", 0},
                          {"<pad>", 1},
                          {"</s>", 2},
                          {"<unk>", 3},
                          {"y", 4},
                          {"x", 5},
                          {"madeupword0000", 6},
                          {"<mask>", 7}}));
  const auto expect = [&](const std::string& text, const std::string& words) {
    ExpectBadInput([&] { ParseFairseqDictionary(text, "d.txt", gpt2); }, "[d.txt]", words);
  };
  expect("1 5\n2 5\n", "line 2: requires a number of GPT-2's 2 tokens, got 2");
  expect("99999999999999999999999 5\n", "line 1: requires a number");
  expect("1 5\n1 5\n", "line 2: requires each word once, got '1' twice");
  expect("1\n", "line 1: requires a word, a space and a count");
  expect("<s> 1\n", "got '<s>' twice");
  expect("<mask> 1\n", "no word <mask>");
}

TEST(OpenTokenizer, NamesWhatIsMissing) {
  const std::string dir = TestFolder();
  ExpectBadInput([&] { OpenGpt2(dir); }, dir,
                 "one of the files encoder.json, vocab.json, got none");
  WriteText(dir, "tokenizer.model", "sentences");
  for (const auto& open :
       {+[](const std::string& at) { OpenGpt2(at); }, +[](const std::string& at) { OpenJson(at); }})
    ExpectBadInput([&] { open(dir); }, dir, "got tokenizer.model alone, which is not read");
  WriteSmallBpe(dir, {"<|endoftext|>"});
  EXPECT_EQ(OpenGpt2(dir)->vocabulary(), 259);
  ExpectBadInput([&] { OpenRoberta(dir); }, dir + "/vocab.json", "the special token <s>");
  std::filesystem::remove(dir + "/merges.txt");
  ExpectBadInput([&] { OpenGpt2(dir); }, dir, "one of the files vocab.bpe, merges.txt, got none");
  WriteText(dir, "vocab.bpe", "x y\n");
  ExpectBadInput([&] { OpenGpt2(dir); }, dir + "/vocab.json", "a number for 'xy'");
}

TEST(BpeTokenizer, OfAFolderOfItsOwn) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const auto tokenizer = OpenRoberta(dir);
  // Bytes are 0 to 255, "ab" 256, " ab" 257, then the special tokens.
  EXPECT_EQ(tokenizer->Encode("ab ab a"), (std::vector<int32_t>{256, 257, ' ', 'a'}));
  EXPECT_EQ(tokenizer->Special("<mask>"), 262);
  ExpectBadInput([&] { tokenizer->Special("<end>"); }, "[roberta]", "no special token '<end>'");
  ExpectBadInput([&] { tokenizer->Decode(std::vector<int32_t>{263}); }, "[roberta]",
                 "0 to 262, got 263");
  EXPECT_EQ(tokenizer->Decode(std::vector<int32_t>{257, 262}), " ab<mask>");
}

// A run of bytes that are no UTF-8 is a piece of its own: "ab" merges within such a run's
// neighbours, never across.
TEST(BpeTokenizer, KeepsWhatIsNotUtf8) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<|endoftext|>"});
  const auto tokenizer = OpenGpt2(dir);
  EXPECT_EQ(tokenizer->Encode("ab\xff\xfe ab"), (std::vector<int32_t>{256, 0xff, 0xfe, 257}));
  // Cut short by the end, and by a letter.
  EXPECT_EQ(tokenizer->Encode("\xe2\x82"), (std::vector<int32_t>{0xe2, 0x82}));
  EXPECT_EQ(tokenizer->Encode("\xe2\x82"
                              "ab"),
            (std::vector<int32_t>{0xe2, 0x82, 256}));
}

TEST(BpeTokenizer, WhatIsWrittenLikeASpecialTokenIsText) {
  const std::string dir = TestFolder();
  WriteSmallBpe(dir, {"<|endoftext|>"});
  const auto tokenizer = OpenGpt2(dir);
  const std::string text = "a<|endoftext|>";
  EXPECT_EQ(tokenizer->Encode(text).size(), text.size());
  std::vector<int32_t> ids;
  tokenizer->EncodeWithSpecials(text, &ids);
  EXPECT_EQ(ids, (std::vector<int32_t>{'a', 258}));
}

}  // namespace
}  // namespace torus::data
