// What a run says of settings and values that it cannot train with, or not as they seem to say.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/summary.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/io/json.h"
#include "runtime/memory_account.h"
#include "tests/recipes/run/run_options.h"
#include "tests/recipes/run/summary_of.h"
#include "tests/testing/error_of.h"

namespace torus::recipes::testing {
namespace {

using torus::testing::ErrorOf;

// 90 images in batches of 89: batch norm over 1 x 1 pixels of one sample has one value a channel.
TEST(Run, ARestOfOneSampleIsRefusedBeforeTheFirstStepUnlessItIsLeftOut) {
  RunOptions options = Options("rest");
  options.settings.batch_size = 89;
  int steps = 0;
  const RunCallbacks callbacks{.on_step = [&](const parallel::StepReport&) { ++steps; }};
  const std::string error = ErrorOf([&] { recipes::Run(options, callbacks); });
  for (const char* part : {"more than one value a channel", "90 training examples",
                           "batches of 89 leave a last one of 1", "--drop-last"})
    EXPECT_NE(error.find(part), std::string::npos) << error;
  EXPECT_EQ(steps, 0);
  options.settings.drop_last = true;
  const RunResult result = recipes::Run(options, callbacks);
  EXPECT_EQ(steps, 2);  // one an epoch
  EXPECT_EQ(result.test->samples, 20);
}

// The first step makes weights so large that no later one is finite.
TEST(Run, StepsThatAreNotFiniteAreSkippedAndTheLastGoodStateStays) {
  RunOptions options = Options("skipped");
  options.settings.lr = 1e30;
  options.settings.warmup = 0;
  options.max_skipped = 3;
  std::vector<bool> skipped;
  const RunCallbacks callbacks{
      .on_step = [&](const parallel::StepReport& step) { skipped.push_back(step.skipped); }};
  const std::string error = ErrorOf([&] { recipes::Run(options, callbacks); });
  EXPECT_NE(error.find("gave up after 3 steps in a row, 1 to 3"), std::string::npos) << error;
  EXPECT_EQ(skipped, (std::vector<bool>{false, true, true, true}));
  const ResumedRun left = LoadRun(options.out);
  EXPECT_EQ(left.step(), 4);
  for (const NamedTensor& weight : left.checkpoint->ReadAll(io::kWeights)) {
    if (weight.value.dtype() != DType::kF32) continue;
    for (const float value : ToVector<float>(weight.value)) ASSERT_TRUE(std::isfinite(value));
  }
}

// One step with such a rate is finite, and what it leaves is not, by its outputs.
TEST(Run, AnEvaluationThatIsNotFiniteIsNoScore) {
  RunOptions options = Options("no score");
  options.settings.lr = 1e30;
  options.settings.warmup = 0;
  options.max_steps = 1;
  std::vector<Evaluation> tests;
  const RunCallbacks callbacks{
      .on_evaluate = [&](const Evaluation& test) { tests.push_back(test); }};
  EXPECT_THROW(recipes::Run(options, callbacks), NoScore);
  ASSERT_EQ(tests.size(), 1u);
  EXPECT_FALSE(std::isfinite(tests[0].loss));
  EXPECT_TRUE(std::isnan(*tests[0].accuracy));
  const RunFolder folder{options.out};
  EXPECT_TRUE(std::filesystem::exists(folder.checkpoint()));
  EXPECT_FALSE(std::filesystem::exists(folder.best()));
  const nlohmann::json summary = io::ReadJsonObject(folder.summary());
  EXPECT_EQ(summary["finished"], false);
  EXPECT_NE(summary["error"].get<std::string>().find("so there is no score"), std::string::npos);
  EXPECT_EQ(summary["test"]["accuracy"], nullptr);
  EXPECT_EQ(ToText(summary).find("accuracy"), std::string::npos) << ToText(summary);
  EXPECT_THROW(EvaluateRun(Resumed(options)), NoScore);
}

// The second has neither the limit of the first nor its peak; the process has neither.
TEST(Run, TwoInOneProcessHaveTheirOwnMemory) {
  constexpr uint64_t kLimit = uint64_t{1} << 30;
  const size_t before = AllocatorFor({}).stats().limit_bytes;
  size_t limit = 0;
  const RunCallbacks callbacks{.on_start = [&](const RunStart&) {
    limit = MemoryAccount::Current()->stats({}).limit_bytes;
    EXPECT_EQ(AllocatorFor({}).stats().limit_bytes, before);
  }};
  RunOptions large = Options("large"), small = Options("small");
  large.max_steps = small.max_steps = 1;
  large.settings.batch_size = 90;
  large.settings.image_size = 64;
  large.memory_limit = kLimit;
  small.settings.batch_size = 6;
  const auto peak = [](const RunResult& run) {
    return SummaryOf(run)["memory"]["peak_bytes"].get<uint64_t>();
  };
  const uint64_t first = peak(recipes::Run(large, callbacks));
  EXPECT_EQ(limit, kLimit);
  EXPECT_EQ(MemoryAccount::Current(), nullptr);
  EXPECT_LT(peak(recipes::Run(small, callbacks)), first / 2);
  EXPECT_EQ(limit, 0u);
}

TEST(Run, TellsOfALearningRateThatMoreEpochsChange) {
  const auto told = [](const std::string& schedule) {
    RunOptions options = Options("more epochs");
    options.settings.lr_schedule = schedule;
    recipes::Run(options);
    options = Resumed(options);
    options.settings.epochs = 4;
    std::string all;
    recipes::Run(options, {.on_message = [&](const std::string& line) { all += line + "\n"; }});
    return all;
  };
  const std::string cosine = told("cosine");
  EXPECT_NE(cosine.find("the learning rate goes on with 0.03"), std::string::npos) << cosine;
  EXPECT_NE(cosine.find("--lr-schedule cosine now ends with epoch 4, before with epoch 2"),
            std::string::npos)
      << cosine;
  EXPECT_EQ(told("constant").find("learning rate"), std::string::npos);
}

// The parts of the first batch are as large as there are images.
TEST(Run, TellsOfABatchBeyondTheData) {
  RunOptions options = Options("beyond");
  options.settings.batch_size = 1000;
  options.max_steps = 1;
  std::string all;
  recipes::Run(options, {.on_message = [&](const std::string& line) { all += line + "\n"; }});
  EXPECT_NE(all.find("--batch-size 1,000 is more than there is: each step takes all 90 images"),
            std::string::npos)
      << all;
}

TEST(Run, WithoutMemoryNamesTheFlags) {
  RunOptions options = Options("memory");
  options.memory_limit = 8 << 20;
  options.settings.image_size = 64;
  const std::string error = ErrorOf<BrokenEnvironment>([&] { recipes::Run(options); });
  EXPECT_NE(error.find("out of memory"), std::string::npos) << error;
  EXPECT_NE(error.find("a smaller --batch-size"), std::string::npos) << error;
}

}  // namespace
}  // namespace torus::recipes::testing
