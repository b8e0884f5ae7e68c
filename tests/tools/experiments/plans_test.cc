// Every experiment's plan at every scale is one that runs would take: names, baselines, settings,
// cuts.
#include <gtest/gtest.h>

#include <set>

#include "recipes/data/data_form.h"
#include "recipes/settings/settings_json.h"
#include "recipes/study/run_study.h"
#include "runtime/error.h"
#include "tools/experiments/altogether/altogether.h"
#include "tools/experiments/common/data_places.h"
#include "tools/experiments/common/dry_run.h"
#include "tools/experiments/common/forecast.h"
#include "tools/experiments/data_parallel_breakdown/data_parallel_breakdown.h"
#include "tools/experiments/gpt3xl_baselines/gpt3xl_baselines.h"
#include "tools/experiments/gpt3xl_networks/gpt3xl_networks.h"
#include "tools/experiments/pipeline_vs_data_parallel/pipeline_vs_data_parallel.h"
#include "tools/experiments/roberta_data_parallel_throughput/roberta_data_parallel_throughput.h"
#include "tools/experiments/sort_quantization/sort_quantization.h"

namespace torus::experiments {
namespace {

std::vector<Experiment> Trained() {
  return {Altogether(),      DataParallelBreakdown(),  Gpt3xlBaselines(),
          Gpt3xlNetworks(),  PipelineVsDataParallel(), RobertaDataParallelThroughput(),
          SortQuantization()};
}

// Also of data that are not at hand: ten classes of 64 x 64, or 65 characters.
recipes::DataForm FormOf(const Training& training) {
  const recipes::Settings& s = training.settings;
  if (auto known = recipes::KnownForm(s)) return *known;
  if (s.data == "text") return recipes::TextForm("text", 65, s.length);
  return recipes::ImageForm(s.data, {64, 64, 3}, 10, s);
}

class Plans : public ::testing::TestWithParam<Scale> {};

TEST_P(Plans, HaveNamesOfTheirOwnAndBaselinesBefore) {
  for (const Experiment& experiment : Trained()) {
    std::set<std::string> names, starts;
    for (const Training& training : experiment.plan(GetParam())) {
      EXPECT_TRUE(names.insert(training.name).second) << training.name << " twice";
      EXPECT_TRUE(training.baseline.empty() || names.contains(training.baseline))
          << training.name << " leans on " << training.baseline;
      EXPECT_TRUE(training.starts_from.empty() || starts.contains(training.starts_from))
          << training.name << " starts from " << training.starts_from;
      if (training.starts_others) starts.insert(training.name);
      EXPECT_TRUE(training.score || training.max_steps > 0) << training.name;
    }
    EXPECT_NO_THROW(experiment.page(GetParam(), {})) << experiment.name << " without any run";
  }
}

// What is looked for below the data folder is known for every row, and missed in words.
TEST_P(Plans, SayWhichDataTheyLack) {
  for (const Experiment& experiment : Trained())
    for (const Training& training : experiment.plan(GetParam())) {
      Training looked = training;
      const std::optional<std::string> missing = FindData("/nowhere", looked);
      ASSERT_TRUE(missing) << training.name;
      EXPECT_NE(missing->find("/nowhere"), std::string::npos) << *missing;
    }
}

TEST_P(Plans, AreStoredWhole) {
  for (const Experiment& experiment : Trained())
    for (const Training& training : experiment.plan(GetParam())) {
      study::PlannedRun planned = ToPlanned(training);
      planned.seed = 7;
      const Training back = FromPlanned(planned);
      EXPECT_EQ(back.settings.seed, 7u);
      EXPECT_EQ(ToPlanned(back).name, training.name);
      EXPECT_EQ(back.links, training.links);
      EXPECT_EQ(back.baseline, training.baseline);
      EXPECT_EQ(back.max_steps, training.max_steps);
      EXPECT_EQ(back.score, training.score);
      EXPECT_EQ(back.weights, training.weights);
      EXPECT_EQ(back.starts_from, training.starts_from);
      EXPECT_EQ(back.starts_others, training.starts_others);
      recipes::Settings settings = training.settings;
      settings.seed = 7;
      EXPECT_EQ(ToJson(back.settings), ToJson(settings));
    }
}

TEST_P(Plans, HaveSettingsAndCutsThatRunsTake) {
  for (const Experiment& experiment : Trained())
    for (const Training& training : experiment.plan(GetParam())) {
      SCOPED_TRACE(experiment.name + ": " + training.name);
      const Forecast forecast = ForecastOf(training, FormOf(training), V100());
      EXPECT_GT(forecast.step_seconds, 0);
      EXPECT_GT(forecast.parameters, 0);
      for (const double bytes : forecast.rank_bytes) EXPECT_GT(bytes, 0);
      EXPECT_EQ(forecast.cuts.empty(), forecast.boundary_bytes == 0);
    }
}

// What is scored there is the study's own: no model from random weights.
TEST(PaperPlans, BeginFromPublishedWeights) {
  for (const Experiment& experiment : Trained())
    for (const Training& training : experiment.plan(Scale::kPaper)) {
      const bool random = training.score && training.weights.empty();
      EXPECT_FALSE(random) << experiment.name << ": " << training.name;
    }
}

INSTANTIATE_TEST_SUITE_P(AllScales, Plans,
                         ::testing::Values(Scale::kTiny, Scale::kLaptop, Scale::kPaper),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

TEST(Forecast, OfTwoEqualCodecsKnowsTheirBytes) {
  Training none{.name = "none",
                .settings = SettingsOf("--model mobilenet_v2 --data cifar10 --cut 1,18 "
                                       "--batch-size 256 --micro-batches 8")};
  Training eight = none;
  eight.settings.codec = "sortq:8";
  const Forecast a = ForecastOf(none, FormOf(none), Core()),
                 b = ForecastOf(eight, FormOf(eight), Core());
  // 32 images: 16 x 16 x 32 and 1 x 1 x 320 floats.
  EXPECT_EQ(a.boundary_bytes, 32 * 4.0 * (16 * 16 * 32 + 320));
  EXPECT_NEAR(b.boundary_bytes / a.boundary_bytes, 0.25, 0.01);
  EXPECT_EQ(a.cuts, (std::vector<int>{1, 18}));
  EXPECT_EQ(a.rank_bytes.size(), 3u);
}

TEST(Forecast, OfCodecsByCutHasEachCutsOwn) {
  Training none{.name = "none",
                .settings = SettingsOf("--model mobilenet_v2 --data cifar10 --cut 1,18 "
                                       "--batch-size 256 --micro-batches 8")};
  Training first = none, second = none;
  first.settings.codec = "1:sortq:8";
  second.settings.codec = "2:sortq:8";
  const auto bytes = [](const Training& t) {
    return ForecastOf(t, FormOf(t), Core()).boundary_bytes;
  };
  const double early = 32 * 4.0 * 16 * 16 * 32, late = 32 * 4.0 * 320;
  EXPECT_NEAR(bytes(first), early / 4 + late, 0.01 * early);
  EXPECT_NEAR(bytes(second), early + late / 4, 0.01 * late);
}

// Each further round is a schedule alone: replicas sum and the optimizer steps once.
TEST(Forecast, OfRoundsSumsAndStepsOnce) {
  const auto seconds = [](int rounds) {
    const Training training{
        .name = "rounds",
        .settings = SettingsOf(fmt::format("--model mobilenet_v2 --data cifar10 --replicas 2 "
                                           "--micro-batches 1 --batch-size {} --accumulate {}",
                                           32 * rounds, rounds))};
    return ForecastOf(training, FormOf(training), V100()).step_seconds;
  };
  EXPECT_NEAR(seconds(3) - seconds(2), seconds(2) - seconds(1), 1e-9 * seconds(1));
  // 2.2 M weights of 4 bytes over 10 Gbps, 2 (R - 1) / R times: 7 ms.
  EXPECT_LT(seconds(2) - seconds(1), seconds(1) - 5e-3);
}

TEST(DryRun, ShowsThePaperScaleWithoutDataOrMemory) {
  const Experiment experiment = SortQuantization();
  Options options{.scale = Scale::kPaper};
  std::vector<Training> trainings;
  for (const Training& training : experiment.plan(Scale::kPaper))
    if (training.settings.data == "cifar10" || training.settings.data == "rte")
      trainings.push_back(training);
  const std::string text = ToText(DryRun(experiment, options, trainings));
  EXPECT_NE(text.find("CIFAR10, MobileNetV2: sortq:8"), std::string::npos) << text;
  EXPECT_NE(text.find("1, 18"), std::string::npos) << text;
  EXPECT_NE(text.find("RTE, RoBERTa-base: sortq:8"), std::string::npos) << text;
  // Nothing is below an empty data folder, which costs nothing.
  EXPECT_NE(text.find("mobilenet_v2 on cifar10 (no data)"), std::string::npos) << text;
  EXPECT_NE(text.find("Altogether 0 hours"), std::string::npos) << text;
}

// 6 epochs of 60,000 images in batches of 500 are 720 steps, of 3 seeds 2160.
TEST(DryRun, AddsUpTheHoursOfAllSeeds) {
  Training training{.name = "row",
                    .settings = SettingsOf("--model mobilenet_v2 --data fashion-mnist --epochs 6 "
                                           "--batch-size 500")};
  if (FindData("", training)) GTEST_SKIP() << "no Fashion-MNIST: NOT tested";
  const Options options{.seeds = 3};
  const Forecast forecast = ForecastOf(training, FormOf(training), Core());
  const std::string text = ToText(DryRun(SortQuantization(), options, {training}));
  EXPECT_NE(text.find(" 720 "), std::string::npos) << text;
  EXPECT_NE(text.find(fmt::format("Altogether {:.3g} hours.", 2160 * forecast.step_seconds / 3600)),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace torus::experiments
