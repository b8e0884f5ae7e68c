// Models with more positions than the rows had that they were trained on: evaluate and generate
// keep to what was trained.
#include "recipes/model/trained_length.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/model_spec.h"
#include "recipes/evaluate/evaluate.h"
#include "recipes/generate/generator.h"
#include "recipes/run/run.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes {
namespace {

constexpr int64_t kPositions = 24, kLength = 8, kWidth = 16, kLayers = 1;

const std::vector<ModelDescriptor>& SmallModels() {
  static const std::vector<ModelDescriptor> models = [] {
    ModelDescriptor model = ParseModelSpec("gpt-char");
    model.config = [base = model.config](std::span<const double> sizes, int64_t outputs) {
      nlohmann::json config = base(sizes, outputs);
      config.update({{"n_embd", kWidth},
                     {"n_inner", 4 * kWidth},
                     {"n_layer", kLayers},
                     {"n_head", 2},
                     {"n_positions", kPositions}});
      return config;
    };
    return std::vector<ModelDescriptor>{model};
  }();
  return models;
}

class Trained : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string folder = ::testing::TempDir() + "/trained_length";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::string text;
    for (int i = 0; i < 200; ++i) text += fmt::format("line {} of the text. ", i);
    text_ = data::WriteText(folder, "text.txt", text);
    run_ = recipes::Run(Options(folder + "/run"));
  }
  static RunOptions Options(const std::string& out) {
    RunOptions options{.out = out, .max_steps = 6};
    Settings& s = options.settings;
    s.model = "gpt-char";
    s.models = &SmallModels();
    s.data = "text";
    s.data_dir = text_;
    s.length = kLength;
    s.epoch_size = 64;
    s.batch_size = 8;
    s.micro_batches = 1;
    s.optimizer = "adamw";
    s.lr = 0.01;
    s.threads = 1;
    return options;
  }
  // What a run leaves, without its tokenizer's files.
  static std::string WithoutTokenizer(const RunResult& run, const std::string& bare) {
    std::filesystem::remove_all(bare);
    std::filesystem::create_directories(bare);
    for (const char* name : {"/config.json", "/model.safetensors"})
      std::filesystem::copy_file(run.model + name, bare + name);
    return bare;
  }
  static EvaluateResult Test(const std::string& weights, int64_t length = 0) {
    return Evaluate({.init = weights, .data = "text", .data_dir = text_, .length = length});
  }
  static void ExpectRefused(const EvaluateOptions& options, const std::string& words) {
    data::ExpectBadInput([&] { Evaluate(options); }, "", words);
  }
  static std::string Text(int64_t length, std::vector<std::string>* warned = nullptr) {
    return Generate(
        {.model = run_.model, .prompt = "line", .tokens = 40, .length = length, .seed = 3}, {},
        [&](const std::string& line) {
          if (warned != nullptr) warned->push_back(line);
        });
  }

  static inline RunResult run_;
  static inline std::string text_;
};

// A folder without its tokenizer's files is read by the one that --tokenizer names.
TEST_F(Trained, NeedsATokenizerFromItsFolderOrFromTheFlag) {
  const std::string bare = WithoutTokenizer(run_, ::testing::TempDir() + "/without_tokenizer");
  EvaluateOptions options{.init = bare, .data = "text", .data_dir = text_};
  ExpectRefused(options, bare + " has no tokenizer: needs vocab.json and merges.txt, or");
  options.tokenizer = "bytes";
  EXPECT_EQ(Evaluate(options).text->loss, Test(run_.model).text->loss);
  options.init = run_.model;
  ExpectRefused(options, "--tokenizer bytes: leave it out, " + run_.model + " has its own");
}

// Its vocabulary lies elsewhere: --vocab-dir alone, and --tokenizer with it, read that one.
TEST_F(Trained, TakesATokenizerThatLiesElsewhere) {
  const std::string folder = data::TestFolder(), vocabulary = folder + "/vocabulary";
  std::filesystem::create_directories(vocabulary);
  data::WriteSmallBpe(vocabulary, {"<|endoftext|>"});
  RunOptions run = Options(folder + "/run");
  run.settings.tokenizer = "gpt2";
  run.settings.vocab_dir = vocabulary;
  const RunResult trained = recipes::Run(run);
  EvaluateOptions options{
      .init = WithoutTokenizer(trained, folder + "/bare"), .data = "text", .data_dir = text_};
  options.tokenizer = "gpt2";
  ExpectRefused(options, "--vocab-dir");
  options.vocab_dir = vocabulary;
  const double loss = Test(trained.model).text->loss;
  EXPECT_EQ(Evaluate(options).text->loss, loss);
  options.tokenizer = "";
  EXPECT_EQ(Evaluate(options).text->loss, loss);
}

TEST_F(Trained, IsEvaluatedOnRowsOfTheTraining) {
  for (const std::string& weights : {run_.model, run_.folder + "/checkpoint"}) {
    const EvaluateResult usual = Test(weights), given = Test(weights, kLength);
    EXPECT_EQ(usual.text->loss, given.text->loss) << weights;
    EXPECT_EQ(usual.text->tokens, given.text->tokens) << weights;
    EXPECT_EQ(usual.warning, "");
    EXPECT_NEAR(
        usual.text->loss, run_.test->loss,
        torus::testing::Tolerance(DType::kF32, (kLayers + 2) * 4 * kWidth, run_.test->loss));
  }
}

TEST_F(Trained, IsToldOfRowsBeyondTheTraining) {
  const EvaluateResult result = Test(run_.model, kPositions);
  EXPECT_NE(result.text->loss, Test(run_.model).text->loss);
  EXPECT_NE(result.warning.find("--length 24: the model was trained on rows of 8 tokens"),
            std::string::npos)
      << result.warning;
  EXPECT_EQ(Test(run_.model, kLength - 1).warning, "");
}

TEST_F(Trained, GeneratesFromAsManyTokensAsARowHad) {
  std::vector<std::string> warned;
  EXPECT_EQ(Text(0, &warned), Text(kLength));
  EXPECT_TRUE(warned.empty());
  EXPECT_NE(Text(kPositions, &warned), Text(kLength));
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_NE(warned[0].find("--length 24"), std::string::npos) << warned[0];
  data::ExpectBadInput([] { Text(kPositions + 1); }, "[generate]",
                       "--length must be at most the model's 24 positions, got 25");
}

// Other programs' folders do not say it, nor do those of runs of before; a checkpoint of such a run
// has it in its settings.
TEST(TrainedLength, IsInTheConfigurationOrInTheSettings) {
  const std::string folder = data::TestFolder();
  EXPECT_EQ(TrainedLength({{"n_positions", 4}}, folder), 0);
  EXPECT_EQ(TrainedLength(nullptr, folder), 0);
  EXPECT_EQ(TrainedLength({{kTrainedLength, 9}}, folder), 9);
  data::WriteText(folder, "settings.json", R"({"settings": {"length": 7}})");
  EXPECT_EQ(TrainedLength({{"n_positions", 4}}, folder), 7);
  EXPECT_EQ(TrainedLength(nullptr, folder), 7);
  data::ExpectBadInput(
      [&] {
        TrainedLength({{kTrainedLength, "long"}}, folder);
      },
      folder, kTrainedLength);
}

}  // namespace
}  // namespace torus::recipes
