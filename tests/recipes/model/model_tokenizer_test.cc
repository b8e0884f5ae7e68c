// Which tokenizer a model gets, and which it refuses.
#include "recipes/model/model_tokenizer.h"

#include <gtest/gtest.h>

#include "data/text/tokenize.h"
#include "models/model_spec.h"
#include "recipes/data/task_data.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"

namespace torus::recipes {
namespace {

using data::ExpectBadInput;

std::string Usual(const std::string& model, const std::string& vocab_dir) {
  return TokenizerFor(ParseModelSpec(model), "", vocab_dir);
}

TEST(TokenizerFor, IsTheModelsOwnWhereNobodyNamesOne) {
  for (const char* model : {"roberta:2", "roberta-mlm:2"}) EXPECT_EQ(Usual(model, "v"), "roberta");
  for (const char* model : {"gpt3-xl:2", "gpt3-xl-lm:2", "gpt2", "gpt2-xl", "gpt-char"})
    EXPECT_EQ(Usual(model, "v"), "gpt2") << model;
  for (const char* model : {"gpt2", "gpt-char", "gpt3-xl-lm"}) EXPECT_EQ(Usual(model, ""), "bytes");
  EXPECT_EQ(TokenizerFor(ParseModelSpec("gpt2"), "roberta", "v"), "roberta");
  EXPECT_EQ(TokenizerFor(ParseModelSpec("gpt2"), "chars", ""), "chars");
}

TEST(TokenizerFor, RefusesWhatTheModelCannotRead) {
  for (const char* model : {"roberta", "roberta-mlm"}) {
    const ModelSpec spec = ParseModelSpec(model);
    const std::string where = fmt::format("[{}]", model);
    ExpectBadInput([&] { TokenizerFor(spec, "gpt2", "v"); }, where,
                   "--tokenizer must be roberta, got gpt2");
    ExpectBadInput([&] { TokenizerFor(spec, "", ""); }, where,
                   "--tokenizer roberta needs --vocab-dir");
  }
  ExpectBadInput([] { TokenizerFor(ParseModelSpec("gpt3-xl"), "", ""); }, "[gpt3-xl]",
                 "--tokenizer gpt2 needs --vocab-dir");
}

// A vocabulary of both, and of so many tokens besides.
Settings Sentences(const std::string& model, int more) {
  const std::string dir = data::TestFolder();
  std::vector<std::string> tokens = {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "<|endoftext|>"};
  for (int i = 0; i < more; ++i) tokens.push_back(fmt::format("<{}>", i));
  data::WriteSmallBpe(dir, tokens);
  for (const char* file : {"train.tsv", "dev.tsv"})
    data::WriteText(dir, file, "sentence\tlabel\nab\t1\n");
  Settings settings;
  settings.model = model;
  settings.data = "sst2";
  settings.data_dir = settings.vocab_dir = dir;
  return settings;
}

TEST(ModelTokenizer, SentencesAreCutByTheModelsOwn) {
  EXPECT_EQ(OpenTaskData(Sentences("gpt3-xl:2", 0)).tokenizer->name(), "gpt2");
  EXPECT_EQ(OpenTaskData(Sentences("roberta:2", 0)).tokenizer->name(), "roberta");
}

TEST(ModelTokenizer, AClassifierKnowsSoManyTokens) {
  // 256 bytes, two merges and six special tokens.
  EXPECT_EQ(OpenTaskData(Sentences("gpt3-xl:2", 50257 - 264)).tokenizer->vocabulary(), 50257);
  ExpectBadInput([] { OpenTaskData(Sentences("gpt3-xl:2", 50258 - 264)); }, "[gpt3-xl]",
                 "knows 50257 tokens, but --tokenizer gpt2 has 50258");
  ExpectBadInput([] { OpenTaskData(Sentences("roberta:2", 50266 - 264)); }, "[roberta]",
                 "knows 50265 tokens, but --tokenizer roberta has 50266");
}

TEST(ModelTokenizer, AMaskedModelRefusesOtherTokenFiles) {
  Settings settings = Sentences("roberta-mlm:1", 0);
  settings.data = "text";
  const std::string text = data::WriteText(settings.vocab_dir, "t.txt", std::string(4000, 'a'));
  settings.data_dir = settings.vocab_dir + "/tokens";
  const auto write = [&](const std::string& tokenizer) {
    data::TokenizeFiles({.inputs = {text},
                         .output = settings.data_dir,
                         .tokenizer = tokenizer,
                         .vocabulary_dir = settings.vocab_dir});
  };
  write("gpt2");
  ExpectBadInput([&] { OpenTaskData(settings); }, "[roberta-mlm]",
                 "--tokenizer must be roberta, got gpt2");
  write("roberta");
  EXPECT_EQ(OpenTaskData(settings).tokenizer->name(), "roberta");
  settings.data_dir = text;
  EXPECT_EQ(OpenTaskData(settings).tokenizer->name(), "roberta");
}

}  // namespace
}  // namespace torus::recipes
