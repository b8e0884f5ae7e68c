// Tokenizers written into a model's folder and read from there.
#include "data/text/tokenizer_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "data/text/byte_tokenizer.h"
#include "data/text/char_tokenizer.h"
#include "data/text/open_tokenizer.h"
#include "tests/data/text/small_bpe.h"

namespace torus::data {
namespace {

std::string Write(const std::map<std::string, std::string>& files, const std::string& name) {
  const std::string folder = TestFolder() + "/" + name;
  std::filesystem::create_directories(folder);
  for (const auto& [file, content] : files) WriteText(folder, file, content);
  return folder;
}

TEST(TokenizerFiles, CharactersComeBack) {
  const CharTokenizer tokenizer = CharTokenizer::Of("to be\n\"\\caf\u00e9 \u20ac \U0001f30d", "x");
  const auto read = TokenizerOfFolder(Write(TokenizerFiles(tokenizer, ""), "chars"), "gpt2");
  EXPECT_EQ(read->name(), "chars");
  EXPECT_EQ(dynamic_cast<const CharTokenizer&>(*read).alphabet(), tokenizer.alphabet());
}

TEST(TokenizerFiles, BytesComeBack) {
  const auto read = TokenizerOfFolder(Write(TokenizerFiles(ByteTokenizer(), ""), "bytes"), "gpt2");
  EXPECT_EQ(read->name(), "bytes");
  EXPECT_EQ(read->Encode("\xff a"), (std::vector<int32_t>{255, 32, 97}));
}

TEST(TokenizerFiles, ABpeKeepsItsNumbersUnderHuggingFacesNames) {
  const std::string openai = TestFolder() + "/openai";
  std::filesystem::create_directories(openai);
  WriteSmallBpe(openai, {"<|endoftext|>"});
  std::filesystem::rename(openai + "/vocab.json", openai + "/encoder.json");
  std::filesystem::rename(openai + "/merges.txt", openai + "/vocab.bpe");
  const auto files = TokenizerFiles(*OpenGpt2(openai), openai);
  EXPECT_TRUE(files.contains("vocab.json") && files.contains("merges.txt"));
  const std::string folder = ::testing::TempDir() + "/hugging_face_bpe";
  std::filesystem::create_directories(folder);
  for (const auto& [file, content] : files) WriteText(folder, file, content);
  EXPECT_EQ(TokenizerOfFolder(folder, "gpt2")->Encode("ab ab"), (std::vector<int32_t>{256, 257}));
}

TEST(TokenizerFiles, RefuseWhatIsNoTokenizerOfCharacters) {
  const auto with = [](const char* vocabulary, const char* merges) {
    return std::string(R"({"model": {"type": "BPE", "vocab": )") + vocabulary + R"(, "merges": )" +
           merges + "}}";
  };
  const auto refuses = [](const std::string& text, const std::string& words) {
    ExpectBadInput([&] { ParseTokenizerJson(text, "tokenizer.json"); }, "", words);
  };
  EXPECT_EQ(ParseTokenizerJson(with(R"({"a": 0, "b": 1})", "[]"), "x")->vocabulary(), 2);
  refuses("{}", "or a BPE without merges");
  refuses(with(R"({"a": 0, "b": 1, "ab": 2})", R"(["a b"])"), "or a BPE without merges");
  refuses(with(R"({"a": 0, "b": 0})", "[]"), "a number of its own below 2");
  refuses(with(R"({"a": 0, "b": 7})", "[]"), "got 7 for b");
  refuses(with(R"({"b": 0, "a": 1})", "[]"), "ascending order");
  refuses(with(R"({"a": 0, "bc": 1})", "[]"), "characters in ascending order, or all bytes");
}

const std::vector<std::string> kSpecials = {"<s>",   "<pad>",  "</s>",
                                            "<unk>", "<mask>", "<|endoftext|>"};

TEST(TokenizerFiles, TheConfigSaysWhoseTheMergesAre) {
  const std::string folder = TestFolder();
  WriteSmallBpe(folder, kSpecials);
  const auto name = [&](const std::string& config, const std::string& otherwise) {
    WriteText(folder, "tokenizer_config.json", config);
    return TokenizerOfFolder(folder, otherwise)->name();
  };
  EXPECT_EQ(TokenizerOfFolder(folder, "gpt2")->name(), "gpt2");
  for (const char* suffix : {"", "Fast"}) {
    const std::string end = std::string(suffix) + R"("})";
    EXPECT_EQ(name(R"({"tokenizer_class": "RobertaTokenizer)" + end, "gpt2"), "roberta");
    EXPECT_EQ(name(R"({"tokenizer_class": "LlamaTokenizer)" + end, "gpt2"), "json");
    EXPECT_EQ(name(R"({"tokenizer_class": "GPT2Tokenizer)" + end, "roberta"), "gpt2");
  }
  for (const char* config :
       {"{}", R"({"tokenizer_class": null})", R"({"tokenizer_class": "PreTrainedTokenizerFast"})",
        R"({"tokenizer_class": "TokenizersBackend"})"}) {
    EXPECT_EQ(name(config, "roberta"), "roberta") << config;
    EXPECT_EQ(name(config, "gpt2"), "gpt2") << config;
  }
  const std::string path = folder + "/tokenizer_config.json";
  ExpectBadInput([&] { name(R"({"tokenizer_class": "BertTokenizer"})", "gpt2"); }, path,
                 "GPT2Tokenizer, RobertaTokenizer or LlamaTokenizer, got \"BertTokenizer\"");
  ExpectBadInput([&] { name("[]", "gpt2"); }, path, "JSON object");
}

// GPT-2's model may read RoBERTa's tokens: encoder.json beside dict.txt is not its vocabulary.
TEST(TokenizerFiles, FairseqsVocabularyStaysRobertas) {
  const std::string fairseq = TestFolder();
  WriteSmallBpe(fairseq, {"<|endoftext|>"});
  std::filesystem::rename(fairseq + "/vocab.json", fairseq + "/encoder.json");
  std::string dictionary;
  for (int token = 257; token >= 0; --token) dictionary += fmt::format("{} 1\n", token);
  WriteText(fairseq, "dict.txt", dictionary);
  const auto tokenizer = OpenRoberta(fairseq);
  const auto read =
      TokenizerOfFolder(Write(TokenizerFiles(*tokenizer, fairseq), "fairseq"), "gpt2");
  EXPECT_EQ(read->name(), "roberta");
  EXPECT_EQ(read->Encode("ab a"), tokenizer->Encode("ab a"));
}

TEST(TokenizerFiles, NameAFolderWithoutTokenizer) {
  const std::string folder = TestFolder();
  ExpectBadInput([&] { TokenizerOfFolder(folder, "gpt2"); }, folder, "vocab.json");
}

}  // namespace
}  // namespace torus::data
