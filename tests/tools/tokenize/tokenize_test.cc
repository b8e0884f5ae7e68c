// The program on a tokenizer's folder with added tokens, special ones and others.
#include "data/text/language_data.h"
#include "tests/data/text/small_bpe.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

using Ids = std::vector<int64_t>;

constexpr int64_t kEnd = 258, kWord = 259, kX = 260;

class Tokenize : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    data::WriteSmallBpe(scratch_, {"<|endoftext|>"});
    std::ofstream(scratch_ + "/added_tokens.json") << R"({"torus": 259, "<x>": 260})";
    std::ofstream(scratch_ + "/special_tokens_map.json") << R"({"mask_token": "<x>"})";
  }
  // Nine tenths of this, to the character, are "ab<|endoftext|>torus<x>ab".
  std::string Text() const {
    const std::string path = scratch_ + "/text.txt";
    std::ofstream(path) << "ab<|endoftext|>torus<x>ababa";
    return path;
  }
  Ended Run(std::vector<std::string> flags, const std::string& tokenizer = "gpt2") const {
    flags.insert(flags.end(), {"--tokenizer", tokenizer, "--out", scratch_ + "/out", Text()});
    if (tokenizer == "gpt2") flags.insert(flags.end(), {"--vocab-dir", scratch_});
    return Program("tools/tokenize/tokenize", flags, scratch_).Wait();
  }
  Ids Train() const {
    const auto data = data::OpenLanguageData(scratch_ + "/out", "gpt2", scratch_);
    Ids ids(static_cast<size_t>(data.train->size()));
    data.train->Copy(0, data.train->size(), ids.data());
    return ids;
  }
};

TEST_F(Tokenize, ASpecialTokenIsOneTokenOnRequest) {
  const Ended ended = Run({"--special-tokens"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(Train(), (Ids{256, kEnd, kWord, kX, 256}));
  EXPECT_EQ(ended.err, "");
  EXPECT_NE(ended.out.find("2 special tokens of the texts became one token each\n"),
            std::string::npos)
      << ended.out;
}

// Every added word is one token all the same.
TEST_F(Tokenize, WithoutRequestItIsPlainTextAndALineSaysSo) {
  const Ended ended = Run({});
  ExpectOneLine(ended, 0,
                "2 special tokens written in the texts, first <|endoftext|>, became plain text; "
                "--special-tokens makes each one token");
  Ids expected = {256};
  for (const char byte : std::string("<|endoftext|>")) expected.push_back(byte);
  expected.push_back(kWord);
  for (const char byte : std::string("<x>")) expected.push_back(byte);
  expected.push_back(256);
  EXPECT_EQ(Train(), expected);
}

TEST_F(Tokenize, BetweenFilesIsTheEndOfAText) {
  std::ofstream(scratch_ + "/second.txt") << "abababababababababab";
  const Ended ended = Run({scratch_ + "/second.txt"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_NE(ended.out.find("2 tokens that end a text put between documents"), std::string::npos)
      << ended.out;
  Ids expected(9, 256);
  expected.push_back(kEnd);
  const Ids got = Train();
  EXPECT_EQ(Ids(got.begin(), got.begin() + 10), expected);
  EXPECT_EQ(std::ranges::count(got, kEnd), 1);
}

// What it has trained is a tokenizer that makes fewer tokens than bytes, and gives the text back.
TEST_F(Tokenize, TrainsAVocabularyThatItThenTakes) {
  const std::string text = scratch_ + "/long.txt", folder = scratch_ + "/vocabulary";
  std::ofstream file(text);
  for (int i = 0; i < 200; ++i) file << "the cat sat on mat " << i % 7 << "\n";
  file.close();
  const auto run = [&](std::vector<std::string> flags) {
    flags.push_back(text);
    return Program("tools/tokenize/tokenize", flags, scratch_).Wait();
  };
  const Ended trained = run({"--train", "270", "--out", folder});
  EXPECT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.out.find("270 tokens trained on"), std::string::npos) << trained.out;
  EXPECT_EQ(run({"--train", "270", "--out", folder}).status, 0) << "its own files are replaced";
  const Ended ended = run({"--vocab-dir", folder, "--out", scratch_ + "/out"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto data = data::OpenLanguageData(scratch_ + "/out", "gpt2", folder);
  EXPECT_EQ(data.tokenizer->vocabulary(), 270);
  std::vector<int64_t> ids(static_cast<size_t>(data.train->size()));
  data.train->Copy(0, data.train->size(), ids.data());
  EXPECT_LT(ids.size(), 200u * 21 / 2);
  const std::vector<int32_t> tokens(ids.begin(), ids.end());
  EXPECT_TRUE(data.tokenizer->Decode(tokens).starts_with("the cat sat on mat 0\nthe cat"));
  std::ofstream(scratch_ + "/other").flush();
  ExpectOneLine(run({"--train", "100", "--out", folder}), 2,
                "--train must be at least 257, got 100");
  ExpectOneLine(run({"--train", "270", "--out", scratch_}), 2, "nothing but files of a vocabulary");
}

// Of 20 bytes the first 18 are for training, in whole documents.
TEST_F(Tokenize, JsonLinesAreDocuments) {
  const std::string path = scratch_ + "/texts.jsonl";
  std::ofstream(path) << R"({"text": "ab\u0061b"})"
                      << "\n\n"
                      << R"({"id": 7, "text": "torus<x>xxxx"})"
                      << "\n"
                      << R"({"text": ""})"
                      << "\n"
                      << R"({"text": "zzzz"})";
  const Ended ended = Program("tools/tokenize/tokenize",
                              {"--tokenizer", "bytes", "--out", scratch_ + "/out", path}, scratch_)
                          .Wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  const auto text_of = [](const data::Tokens& tokens) {
    Ids ids(static_cast<size_t>(tokens.size()));
    tokens.Copy(0, tokens.size(), ids.data());
    return std::string(ids.begin(), ids.end());
  };
  const auto folder = data::OpenLanguageData(scratch_ + "/out", "bytes", "");
  EXPECT_EQ(text_of(*folder.train), "ababtorus<x>xxxx");
  EXPECT_EQ(text_of(*folder.validation), "zzzz");
  const auto file = data::OpenLanguageData(path, "bytes", "");
  EXPECT_EQ(text_of(*file.train), "ababtorus<x>xxxx");
  EXPECT_EQ(text_of(*file.validation), "zzzz");
  EXPECT_EQ(data::OpenLanguageData(path, "chars", "").tokenizer->vocabulary(), 11);
  const auto all = data::OpenTokens(path, "all", *file.tokenizer);
  EXPECT_EQ(text_of(*all), "ababtorus<x>xxxxzzzz");
}

TEST_F(Tokenize, AJsonLineWithoutATextIsNamed) {
  const std::string path = scratch_ + "/texts.jsonl";
  for (const char* line : {R"({"content": "a"})", R"({"text": 7})", "[1]", "text"}) {
    std::ofstream(path) << R"({"text": "a"})"
                        << "\n"
                        << line << "\n";
    ExpectOneLine(Program("tools/tokenize/tokenize",
                          {"--tokenizer", "bytes", "--out", scratch_ + "/out", path}, scratch_)
                      .Wait(),
                  2, "texts.jsonl line 2");
  }
}

TEST_F(Tokenize, TokenizersWithoutSpecialTokensRefuseTheRequest) {
  for (const char* tokenizer : {"bytes", "chars"}) {
    ExpectOneLine(Run({"--special-tokens"}, tokenizer), 2,
                  "--special-tokens needs a tokenizer with a vocabulary");
    EXPECT_EQ(Run({}, tokenizer).err, "") << "nothing to say of " << tokenizer;
  }
}

}  // namespace
}  // namespace torus::tools::testing
