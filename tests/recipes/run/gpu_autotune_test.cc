// Runs that choose among proposals: what is timed is kept in the run's folder and taken from there.
// On emulated GPUs the proposals are a test's, on a GPU those of cuBLASLt and cuDNN.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "ops/cuda/proposal_stand_in.h"
#include "recipes/run/plans_file.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/summary.h"
#include "recipes/run/verify_resume.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
#include "tests/recipes/run/summary_of.h"
#include "tests/recipes/small_text.h"
#include "tests/testing/error_of.h"

namespace torus::recipes {
namespace {

using testing::SummaryOf;
using torus::testing::ErrorOf;

namespace fs = std::filesystem;

class GpuAutotune : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    testing::WriteAbcd(folder_ + "/text.txt", 200);
  }
  // A GPT of one layer; 4 steps an epoch.
  RunOptions Options(const std::string& name) const {
    RunOptions options{.out = folder_ + "/" + name};
    Settings& s = options.settings;
    s.model = "gpt-char:1";
    s.data = "text";
    s.data_dir = folder_ + "/text.txt";
    s.length = 8;
    s.epoch_size = 16;
    s.epochs = 2;
    s.batch_size = 4;
    s.micro_batches = 1;
    s.optimizer = "adamw";
    s.lr = 0.001;
    s.threads = 1;
    s.device = "cuda";
    s.autotune = true;
    return options;
  }
  RunOptions Resumed(const std::string& name, int64_t steps) const {
    RunOptions options;
    options.resume = folder_ + "/" + name;
    options.settings = LoadStored(options.resume).settings;
    options.max_steps = steps;
    return options;
  }
  // The summary's plans.
  nlohmann::json PlansOf(RunOptions options, int64_t steps) const {
    options.max_steps = steps;
    return SummaryOf(recipes::Run(options))["plans"];
  }
  std::string FileOf(const std::string& name, int rank = 0) const {
    return RunFolder{folder_ + "/" + name}.plans(rank);
  }

  const std::string folder_ = ::testing::TempDir() + "/gpu_autotune";
  std::atomic<int64_t> timed_ = 0;  // of the test's
  // The last of three is quickest.
  const cuda::ProposalStandIn stand_in_{
      cuda::FakeProposals{.count = 3, .seconds = [this](const std::string&, int64_t i) {
                            ++timed_;
                            return 3.0 - static_cast<double>(i);
                          }}};
};

TEST_F(GpuAutotune, KeepsItsChoicesAndTakesThemWhenResumed) {
  const nlohmann::json first = PlansOf(Options("run"), 4);
  EXPECT_GT(first["timed"], 0);
  const cuda::PlanChoices kept = ReadPlans(FileOf("run")).choices;
  EXPECT_GT(kept.size(), 10u);
  const nlohmann::json second = PlansOf(Resumed("run", 8), 8);
  EXPECT_EQ(second["timed"], 0);
  EXPECT_GT(second["known"], 0);
  EXPECT_EQ(ReadPlans(FileOf("run")).choices, kept);
}

class EmulatedAutotune : public GpuAutotune {
 protected:
  void SetUp() override {
    GpuAutotune::SetUp();
    if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu: NOT tested";
  }
};

TEST_F(EmulatedAutotune, TimesEachQuestionOnceAndFollowsWhatItFound) {
  const nlohmann::json first = PlansOf(Options("run"), 4);
  EXPECT_EQ(first["timed"], timed_.load());
  EXPECT_EQ(first["timed"], 3 * first["made"].get<int64_t>());
  EXPECT_EQ(first["known"], 0);
  const StoredPlans kept = ReadPlans(FileOf("run"));
  EXPECT_GT(kept.choices.size(), 10u);
  EXPECT_EQ(std::ssize(kept.choices), first["made"].get<int64_t>());
  for (const auto& [what, choice] : kept.choices)
    EXPECT_EQ(choice, (cuda::PlanChoice{2, "emulated 2", true})) << what;
  timed_ = 0;
  const nlohmann::json second = PlansOf(Resumed("run", 8), 8);
  EXPECT_EQ(timed_, 0);
  EXPECT_EQ(second["timed"], 0);
  EXPECT_EQ(second["known"], second["made"]);
  EXPECT_GT(second["made"], 0);
  EXPECT_EQ(ReadPlans(FileOf("run")).choices, kept.choices);
}

TEST_F(EmulatedAutotune, TimesNothingAndKeepsNothingUnasked) {
  RunOptions options = Options("run");
  options.settings.autotune = false;
  const nlohmann::json plans = PlansOf(options, 2);
  EXPECT_EQ(timed_, 0);
  EXPECT_EQ(plans["timed"], 0);
  EXPECT_FALSE(fs::exists(FileOf("run")));
}

TEST_F(EmulatedAutotune, IsSummedUpOnGpusAlone) {
  RunOptions options = Options("run");
  options.settings.device = "cpu";
  const RunResult result = recipes::Run(options);
  EXPECT_TRUE(SummaryOf(result)["plans"].is_null());
  EXPECT_EQ(SummaryText(result).find("plans"), std::string::npos);
  EXPECT_FALSE(fs::exists(FileOf("run")));
}

// In 16 bits attention is a graph, which no emulated GPU takes.
TEST_F(EmulatedAutotune, SaysWhatHadNoFastPlan) {
  RunOptions options = Options("run");
  options.settings.precision = "bf16";
  options.max_steps = 1;
  const RunResult result = recipes::Run(options);
  const nlohmann::json fallbacks = SummaryOf(result)["plans"]["fallbacks"];
  int64_t attention = 0;
  for (const auto& [what, calls] : fallbacks.items())
    if (what.starts_with("attention of bf16")) attention += calls.get<int64_t>();
  EXPECT_GT(attention, 0) << fallbacks;
  const std::string text = SummaryText(result);
  EXPECT_NE(text.find("no fast plan    "), std::string::npos) << text;
  EXPECT_NE(text.find(" proposals timed\n"), std::string::npos) << text;
}

TEST_F(EmulatedAutotune, OfAnotherGpuIsRefusedAndBeginsAnewWhereToldSo) {
  PlansOf(Options("run"), 2);
  StoredPlans plans = ReadPlans(FileOf("run"));
  plans.origin.gpu = "NVIDIA H100";
  WritePlans(FileOf("run"), plans);
  const std::string error = ErrorOf([&] { recipes::Run(Resumed("run", 4)); });
  EXPECT_NE(error.find(FileOf("run")), std::string::npos) << error;
  EXPECT_NE(error.find("has choices for NVIDIA H100 with"), std::string::npos) << error;
  EXPECT_NE(error.find("here is an emulated GPU with"), std::string::npos) << error;
  EXPECT_NE(error.find("--plans none"), std::string::npos) << error;
  timed_ = 0;
  RunOptions anew = Resumed("run", 4);
  anew.plans = "none";
  EXPECT_EQ(PlansOf(anew, 4)["known"], 0);
  EXPECT_GT(timed_, 0);
  EXPECT_EQ(ReadPlans(FileOf("run")).origin.gpu, "an emulated GPU");
}

TEST_F(EmulatedAutotune, WithoutChoicesLeavesNoneForLater) {
  PlansOf(Options("run"), 2);
  RunOptions without = Resumed("run", 4);
  without.plans = "none";
  without.settings.autotune = false;
  EXPECT_EQ(PlansOf(without, 4)["known"], 0);
  EXPECT_TRUE(ReadPlans(FileOf("run")).choices.empty());
  EXPECT_EQ(PlansOf(Resumed("run", 6), 6)["known"], 0);
}

TEST_F(EmulatedAutotune, ADamagedFileIsNamedBeforeTheFirstStep) {
  PlansOf(Options("run"), 2);
  std::ofstream(FileOf("run"), std::ios::app) << "{";
  const std::string error = ErrorOf([&] { recipes::Run(Resumed("run", 4)); });
  EXPECT_NE(error.find(FileOf("run")), std::string::npos) << error;
}

TEST_F(EmulatedAutotune, ANewRunBeginsWithTheChoicesOfAFileOrAnotherRun) {
  PlansOf(Options("run"), 4);
  const StoredPlans kept = ReadPlans(FileOf("run"));
  timed_ = 0;
  for (const std::string& from : {FileOf("run"), folder_ + "/run"}) {
    fs::remove_all(folder_ + "/next");
    RunOptions options = Options("next");
    options.settings.autotune = false;
    options.plans = from;
    EXPECT_GT(PlansOf(options, 2)["known"], 0);
    EXPECT_EQ(ReadPlans(FileOf("next")).choices, kept.choices) << "so that it can be resumed";
  }
  EXPECT_EQ(timed_, 0);
}

TEST_F(EmulatedAutotune, EachRankHasItsOwnChoices) {
  RunOptions options = Options("run");
  options.settings.replicas = 2;
  options.settings.threads = 2;
  PlansOf(options, 2);
  for (const int rank : {0, 1}) EXPECT_GT(ReadPlans(FileOf("run", rank)).choices.size(), 10u);
  RunOptions three = Options("next");
  three.settings.replicas = 3;
  three.settings.threads = 3;
  three.settings.batch_size = 6;
  three.plans = folder_ + "/run";
  const std::string error = ErrorOf([&] { recipes::Run(three); });
  EXPECT_NE(error.find("has no choices of rank 2"), std::string::npos) << error;
}

// What two ranks compute both must be the same.
TEST_F(EmulatedAutotune, IsRefusedWhereRanksMustComputeAlike) {
  RunOptions tensor = Options("run"), reproducible = Options("run");
  tensor.settings.tensor = 2;
  tensor.settings.threads = 2;
  reproducible.settings.reproducible = true;
  for (const RunOptions& options : {tensor, reproducible}) {
    const std::string error = ErrorOf([&] { recipes::Run(options); });
    EXPECT_NE(error.find("--no-autotune"), std::string::npos) << error;
  }
  PlansOf(Options("one"), 2);
  tensor.settings.autotune = false;
  tensor.plans = folder_ + "/one";
  PlansOf(tensor, 1);
  EXPECT_EQ(ReadPlans(FileOf("run", 0)).choices, ReadPlans(FileOf("run", 1)).choices);
}

TEST_F(EmulatedAutotune, VerifyingThatARunResumesMeasuresNothingTwice) {
  const ResumeCheck check = VerifyResume(Options("verified"), 2);
  EXPECT_EQ(check.different, 0) << ToText(check);
  EXPECT_EQ(ReadPlans(FileOf("verified/whole")).choices,
            ReadPlans(FileOf("verified/resumed")).choices);
  EXPECT_EQ(timed_, 3 * std::ssize(ReadPlans(FileOf("verified/whole")).choices));
}

}  // namespace
}  // namespace torus::recipes
