#include "data/text/language_data.h"

#include <gtest/gtest.h>

#include "data/text/char_tokenizer.h"
#include "data/text/tokenize.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

std::string TextOf(const LanguageData& data, const Tokens& tokens) {
  std::vector<int64_t> ids(tokens.size());
  tokens.Copy(0, tokens.size(), ids.data());
  return data.tokenizer->Decode(std::vector<int32_t>(ids.begin(), ids.end()));
}

TEST(SplitText, CutsAtNineTenthsOfTheCharacters) {
  using Parts = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(SplitText("0123456789"), (Parts{"012345678", "9"}));
  EXPECT_EQ(SplitText("012345678"), (Parts{"01234567", "8"}));
  EXPECT_EQ(SplitText("éééééééééa"), (Parts{"ééééééééé", "a"}));
  EXPECT_EQ(SplitText("aé"), (Parts{"a", "é"}));
  EXPECT_EQ(SplitText(""), (Parts{"", ""}));
  EXPECT_EQ(SplitText("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80"),
            (Parts{"\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x80"}));
}

TEST(SplitText, KeepsATokenWholeWhereThePartsMeet) {
  using Parts = std::pair<std::string_view, std::string_view>;
  const std::vector<SpecialToken> tokens = {{"789", 1}, {"345678", 2}};
  EXPECT_EQ(SplitText("0123456789", tokens), (Parts{"0123456789", ""})) << "split inside of 789";
  EXPECT_EQ(SplitText("0123456780", tokens), (Parts{"012345678", "0"})) << "a token ends there";
  EXPECT_EQ(SplitText("ab3456789a", {{"a", 1}}), (Parts{"ab3456789", "a"})) << "or begins";
}

// Train and validation are cut at the same place by all who read the text.
TEST(LanguageData, AnAddedWordIsWholeWhereThePartsMeet) {
  const std::string dir = TestFolder(), path = WriteText(dir, "t.txt", "0123456torus");
  WriteSmallBpe(dir, {"<|endoftext|>"});
  WriteText(dir, "added_tokens.json", R"({"torus": 259})");
  const LanguageData data = OpenLanguageData(path, "gpt2", dir);
  EXPECT_EQ(TextOf(data, *data.train), "0123456torus");
  EXPECT_EQ(data.train->size(), 8);
  EXPECT_EQ(data.validation->size(), 0);
  EXPECT_EQ(OpenTokens(path, "train", *data.tokenizer)->size(), 8);
}

TEST(LanguageData, OfATextFile) {
  const std::string dir = TestFolder(), path = WriteText(dir, "t.txt", "ab ab ab ab ab abé");
  const LanguageData chars = OpenLanguageData(path, "chars", "");
  EXPECT_EQ(chars.tokenizer->vocabulary(), 4);
  EXPECT_EQ(TextOf(chars, *chars.train), "ab ab ab ab ab a");
  EXPECT_EQ(TextOf(chars, *chars.validation), "bé");
  EXPECT_EQ(OpenLanguageData(path, "bytes", "").validation->size(), 3);
  WriteSmallBpe(dir, {"<|endoftext|>"});
  const LanguageData gpt2 = OpenLanguageData(path, "gpt2", dir);
  EXPECT_EQ(TextOf(gpt2, *gpt2.train), "ab ab ab ab ab a");
  EXPECT_EQ(gpt2.train->size(), 7);
}

TEST(LanguageData, OfTokenFiles) {
  const std::string dir = TestFolder();
  const std::string a = WriteText(dir, "a.txt", "0123456789"), b = WriteText(dir, "b.txt", "aé");
  const std::string out = dir + "/out/tokens";
  const TokenizeResult result =
      TokenizeFiles({.inputs = {a, b}, .output = out, .tokenizer = "chars", .shard_tokens = 4});
  EXPECT_EQ(result.bytes, 13);
  EXPECT_EQ(result.vocabulary, 12);
  EXPECT_EQ(result.train, 10);
  EXPECT_EQ(result.train_files, 3);
  EXPECT_EQ(result.validation, 2);
  EXPECT_EQ(result.validation_files, 1);
  for (const char* const name : {"", "chars"}) {
    const LanguageData data = OpenLanguageData(out, name, "");
    EXPECT_EQ(TextOf(data, *data.train), "012345678a");
    EXPECT_EQ(TextOf(data, *data.validation), "9é");
  }
  ExpectBadInput([&] { OpenLanguageData(out, "gpt2", ""); }, out,
                 "requires tokens of gpt2, got those of chars");
}

TEST(LanguageData, NamesWhatIsWrong) {
  const std::string dir = TestFolder(), path = WriteText(dir, "t.txt", "abc");
  ExpectBadInput([&] { OpenLanguageData(path, "words", ""); }, "[text]",
                 "(--tokenizer) of gpt2, roberta, json, bytes, chars, got 'words'");
  ExpectBadInput([&] { OpenLanguageData(path, "gpt2", ""); }, "[gpt2]",
                 "requires the folder of its vocabulary (--vocab-dir), got none");
  const std::string tokens = TokenShardPath(dir, "train", 1);
  WriteTokenFile(tokens, {"bytes", "", 256}, std::vector<int32_t>{1, 2, 3});
  ExpectBadInput([&] { OpenLanguageData(tokens, "", ""); }, tokens, "got a token file");
  ExpectBadInput([&] { OpenLanguageData(dir, "", ""); }, dir + "/train-00000.tokens before",
                 tokens + ", got none");
  std::filesystem::remove(tokens);
  ExpectBadInput([&] { OpenLanguageData(path + "x", "bytes", ""); }, path + "x", "No such file");
  ExpectBadInput([&] { OpenLanguageData(dir, "", ""); }, dir,
                 "train-00000.tokens and so on, got none; a text is given as one file");
  WriteText(dir, "t.txt", "ab\xff");
  ExpectBadInput([&] { OpenLanguageData(path, "chars", ""); }, path, "0xff at offset 2");
  WriteSmallBpe(dir, {"<|endoftext|>"});
  ExpectBadInput(
      [&] {
        MakeTokenizer({"gpt2", "", 50257}, dir);
      },
      "[gpt2]", "a vocabulary of 50257 tokens, got 259");
}

// Of another text's characters.
TEST(LanguageData, NamesTheFileWithATokenThatThereIsNot) {
  const std::string path = WriteText(TestFolder(), "t.txt", "abcabcabcz");
  ExpectBadInput([&] { OpenTokens(path, "all", CharTokenizer("abc")); }, path, "z");
}

TEST(TokenizeFiles, LeavesTheOldFolderWhereItFails) {
  const std::string dir = TestFolder(), good = WriteText(dir, "a.txt", "0123456789");
  const TokenizeOptions options{.inputs = {good}, .output = dir + "/out", .tokenizer = "bytes"};
  TokenizeFiles(options);
  TokenizeOptions bad = options;
  bad.inputs.push_back(dir + "/none");
  ExpectBadInput([&] { TokenizeFiles(bad); }, dir + "/none", "No such file");
  EXPECT_EQ(OpenLanguageData(options.output, "bytes", "").train->size(), 9);
  bad.inputs = {};
  ExpectBadInput([&] { TokenizeFiles(bad); }, "[tokenize]", "at least one text file");
  bad.inputs = {good}, bad.shard_tokens = 0;
  ExpectBadInput([&] { TokenizeFiles(bad); }, "[tokenize]", "one token a file, got 0");
}

TEST(TokenizeFiles, AnEmptyTextAddsNothing) {
  const std::string dir = TestFolder(), full = WriteText(dir, "a.txt", "0123456789"),
                    empty = WriteText(dir, "b.txt", "");
  TokenizeOptions options{.inputs = {full, empty}, .output = dir + "/out", .tokenizer = "chars"};
  for (const char* const tokenizer : {"bytes", "chars"}) {
    options.tokenizer = tokenizer;
    EXPECT_EQ(TokenizeFiles(options).train, 9) << tokenizer;
    const LanguageData data = OpenLanguageData(options.output, tokenizer, "");
    EXPECT_EQ(TextOf(data, *data.train), "012345678");
    EXPECT_EQ(TextOf(data, *data.validation), "9");
  }
  options.inputs = {empty};
  ExpectBadInput([&] { TokenizeFiles(options); }, "[chars]", "at least one character");
}

TEST(TokenizeFiles, ReplacesNothingButTokenFiles) {
  const std::string dir = TestFolder(), text = WriteText(dir, "a.txt", "0123456789");
  const TokenizeOptions options{.inputs = {text}, .output = dir + "/out", .tokenizer = "bytes"};
  TokenizeFiles(options);
  TokenizeFiles(options);
  const auto refused = [&](const std::string& name) {
    ExpectBadInput([&] { TokenizeFiles(options); }, options.output,
                   "nothing but token files, got one with " + name);
    EXPECT_TRUE(std::filesystem::remove(options.output + "/" + name));
  };
  for (const char* const name : {"README.md", "other.tokens"}) {
    WriteText(options.output, name, "mine");
    refused(name);
  }
  std::filesystem::create_directory(options.output + "/folder.tokens");
  refused("folder.tokens");
  TokenizeFiles(options);
}

// What nanoGPT's preparation prints for the same text.
TEST(LanguageData, OfTinyShakespeareIsNanoGpts) {
  const char* const folder = std::getenv("TORUS_DATA");
  if (folder == nullptr || *folder == '\0') GTEST_SKIP() << "TORUS_DATA is not set";
  const std::string path = std::string(folder) + "/text/tinyshakespeare.txt";
  const LanguageData chars = OpenLanguageData(path, "chars", "");
  EXPECT_EQ(chars.tokenizer->vocabulary(), 65);
  EXPECT_EQ(chars.train->size(), 1003854);
  EXPECT_EQ(chars.validation->size(), 111540);
  const LanguageData gpt2 =
      OpenLanguageData(path, "gpt2", std::string(folder) + "/bpe_gpt2_roberta");
  EXPECT_EQ(gpt2.train->size(), 301966);
  EXPECT_EQ(gpt2.validation->size(), 36059);
}

}  // namespace
}  // namespace torus::data
