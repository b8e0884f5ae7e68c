// Runs in which attention stays within a document.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "recipes/data/task_data.h"
#include "recipes/run/run.h"
#include "runtime/error.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/small_bpe.h"
#include "tests/testing/error_of.h"

namespace torus::recipes {
namespace {

constexpr int64_t kEndOfText = 258;  // behind 256 bytes and two merges
constexpr int64_t kLength = 16;

// Of 80 documents of 3 to 9 tokens.
RunOptions OptionsOf(const std::string& name, const std::string& model) {
  const std::string folder = data::TestFolder();
  data::WriteSmallBpe(folder, {"<|endoftext|>"});
  std::string lines;
  for (int i = 0; i < 80; ++i)
    lines += fmt::format("{{\"text\": \"{}\"}}\n", std::string(static_cast<size_t>(3 + i % 7),
                                                               static_cast<char>('c' + i % 11)));
  RunOptions options{.settings = {}, .out = folder + "/" + name};
  Settings& s = options.settings;
  s.model = model;
  s.data = "text";
  s.data_dir = data::WriteText(folder, "documents.jsonl", lines);
  s.tokenizer = "gpt2";
  s.vocab_dir = folder;
  s.length = kLength;
  s.document_mask = true;
  s.epoch_size = 16;
  s.epochs = 1;
  s.batch_size = 4;
  s.micro_batches = 2;
  s.threads = 1;
  return options;
}

struct Losses {
  std::vector<double> steps;
  double test = 0;
  friend bool operator==(const Losses&, const Losses&) = default;
};

Losses LossesOf(const RunOptions& options) {
  Losses losses;
  const RunResult result = recipes::Run(
      options, {.on_step = [&](const parallel::StepReport& r) { losses.steps.push_back(r.loss); }});
  losses.test = result.test->loss;
  return losses;
}

// A cut hands the mask on with the activation.
TEST(DocumentMask, CutsAndRecomputingChangeNoBit) {
  for (const char* const model : {"gpt-char:2", "llama:2,8,2,1"}) {
    SCOPED_TRACE(model);
    RunOptions options = OptionsOf("one", model);
    const Losses one = LossesOf(options);
    EXPECT_EQ(one.steps.size(), 4u);
    options = OptionsOf("two", model);
    options.settings.stages = options.settings.threads = 2;
    options.settings.recompute = "all";
    EXPECT_EQ(LossesOf(options), one);
    options = OptionsOf("without", model);
    options.settings.document_mask = false;
    const Losses without = LossesOf(options);
    EXPECT_NE(without.steps, one.steps);
    EXPECT_NE(without.test, one.test);
  }
}

TEST(DocumentMask, NumbersTheDocumentsOfAllParts) {
  Settings s = OptionsOf("", "gpt-char:1").settings;
  s.validation = 0.2;
  const TaskData task = OpenTaskData(s);
  const std::vector<parallel::TensorSpec> form = task.form.inputs(3);
  ASSERT_EQ(form.size(), 2u);
  EXPECT_EQ(form[1].shape, (Shape{3, kLength}));
  for (const DataPart* part : {&task.train, &task.test, &task.validation}) {
    const data::Batch batch = part->batches({.indices = {0}, .samples = {0}});
    ASSERT_EQ(batch.inputs.size(), 2u);
    const std::vector<int64_t> tokens = ToVector<int64_t>(batch.inputs[0]);
    const std::vector<int64_t> documents = ToVector<int64_t>(batch.inputs[1]);
    EXPECT_GT(documents.back(), 1);
    for (size_t t = 1; t < tokens.size(); ++t)
      EXPECT_EQ(documents[t] - documents[t - 1], tokens[t] == kEndOfText ? 1 : 0);
  }
}

TEST(DocumentMask, NeedsATokenThatEndsATextAndAModelThatTakesDocuments) {
  RunOptions options = OptionsOf("refused", "gpt-char:1");
  options.settings.tokenizer = "bytes";
  EXPECT_EQ(torus::testing::ErrorOf([&] { recipes::Run(options); }),
            "[train] --document-mask needs a tokenizer with a token that ends a text, got bytes");
  options.settings.model = "gpt3-xl-lm:1";
  EXPECT_EQ(torus::testing::ErrorOf([&] { recipes::Run(options); }),
            "[train] --document-mask needs a model that takes the documents of its tokens, GPT-2 "
            "or Llama, got --model gpt3-xl-lm:1");
}

}  // namespace
}  // namespace torus::recipes
