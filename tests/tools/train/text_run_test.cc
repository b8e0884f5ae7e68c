// The program on texts, and what it says of those that do not fit.
#include "tests/recipes/small_text.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

TEST_F(ProgramTest, LearnsTheNextCharacter) {
  recipes::testing::WriteAbcd(scratch_ + "/text.txt", 2000);
  const Ended run = Train({"--preset", "gpt-char-shakespeare", "--model", "gpt-char:1",
                           "--data-dir", scratch_ + "/text.txt", "--length", "8", "--epoch-size",
                           "960", "--warmup", "5", "--out", scratch_ + "/run"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("character GPT of 1 layers on text.txt"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" tokens/s ("), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(" % of the measured peak)"), std::string::npos) << run.out;
  const nlohmann::json summary = Json("run/summary.json");
  EXPECT_EQ(summary["unit"], "windows");
  EXPECT_EQ(summary["steps"], 80);
  // A letter says which comes next: 80 steps bring the perplexity from 4 to near 1.
  EXPECT_LT(summary["test"]["perplexity"].get<double>(), 1.5);
}

TEST_F(ProgramTest, ATextIsReadInBytesWhereNobodySays) {
  std::ofstream(scratch_ + "/text.txt") << std::string(400, 'a');
  const std::vector<std::string> flags = {
      "--model",         "gpt-char:1", "--data",       "text", "--data-dir", scratch_ + "/text.txt",
      "--length",        "8",          "--batch-size", "4",    "--stages",   "1",
      "--micro-batches", "1",          "--max-steps",  "1",    "--out",      scratch_ + "/run"};
  const Ended run = Train(flags);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Json("run/model/tokenizer.json")["decoder"]["type"], "ByteLevel");
  EXPECT_EQ(Json("run/model/config.json")["vocab_size"], 256);
  std::vector<std::string> words = flags;
  words.insert(words.end(), {"--tokenizer", "words"});
  ExpectOneLine(Train(words), 2, "--tokenizer");
}

TEST_F(ProgramTest, SaysWhatDoesNotFit) {
  ExpectOneLine(Train({"--model", "gpt2", "--data", "cifar10"}), 2,
                "--model gpt2 learns from a long text, but --data cifar10 is images");
  ExpectOneLine(Train({"--model", "roberta-mlm", "--data", "rte"}), 2,
                "--model roberta-mlm learns from a long text, but --data rte is sentences");
  ExpectOneLine(Train({"--model", "roberta-mlm:1", "--data", "text", "--data-dir", scratch_,
                       "--length", "2"}),
                2, "--length must be at least 3 for a model of masked words, got 2");
  setenv("TORUS_DATA", "", 1);
  ExpectOneLine(Train({"--model", "roberta:1", "--data", "rte"}), 2, "needs --data-dir");
  ExpectOneLine(Train({"--model", "roberta:1", "--data", "rte", "--data-dir", scratch_,
                       "--vocab-dir", scratch_, "--tokenizer", "gpt2"}),
                2, "reads roberta's tokens: --tokenizer must be roberta, got gpt2");
  std::ofstream(scratch_ + "/text.txt") << std::string(400, 'a');
  ExpectOneLine(
      Train({"--model", "roberta-mlm:1", "--data", "text", "--data-dir", scratch_ + "/text.txt"}),
      2, "--tokenizer roberta needs --vocab-dir");
  ExpectOneLine(Train({"--preset", "gpt5"}), 2,
                "--preset must be one of mobilenet_v2-fashion-mnist");
}

TEST_F(ProgramTest, ListsPresets) {
  const Ended list = Train({"--presets"});
  EXPECT_EQ(list.status, 0);
  for (const char* name :
       {"mobilenet_v2-cifar10", "vgg13-cifar10", "resnet18-cifar10", "roberta-rte", "roberta-cola",
        "gpt2-shakespeare", "gpt-char-shakespeare", "gpt3xl-qqp"})
    EXPECT_NE(list.out.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace torus::tools::testing
