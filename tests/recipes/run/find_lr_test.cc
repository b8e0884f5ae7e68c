#include "recipes/run/find_lr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <stop_token>

#include "runtime/error.h"
#include "tests/recipes/run/image_run.h"

namespace torus::recipes {
namespace {

// A loss that falls from 2 to 1 around `centre` over the logarithm of the rate, and rises behind 1.
std::vector<RateLoss> Falling(double centre) {
  std::vector<RateLoss> steps;
  for (double rate = 1e-7; rate < 10; rate *= 1.2) {
    const double x = std::log(rate / centre);
    steps.push_back({rate, 1 + 1 / (1 + std::exp(x)) + (rate > 1 ? rate : 0)});
  }
  return steps;
}

TEST(SteepestRate, IsWhereTheLossFallsFastest) {
  for (const double centre : {1e-4, 3e-3, 0.05})
    EXPECT_NEAR(std::log(*SteepestRate(Falling(centre)) / centre), 0, std::log(1.2));
  EXPECT_FALSE(SteepestRate({{1e-3, 1}, {2e-3, 2}, {4e-3, 3}}).has_value());
  EXPECT_FALSE(SteepestRate({{1e-3, 2}, {2e-3, 1}}).has_value());
}

// The weighted means of 1; 1 and 4; 1, 4 and 4.
TEST(Smoothed, HasNoBiasAtItsBeginning) {
  const std::vector<RateLoss> smoothed = Smoothed({{1, 1}, {2, 4}, {3, 4}});
  EXPECT_NEAR(smoothed[0].loss, 1, 1e-15);
  EXPECT_NEAR(smoothed[1].loss, (0.9 * 1 + 4) / 1.9, 1e-14);
  EXPECT_NEAR(smoothed[2].loss, (0.81 * 1 + 0.9 * 4 + 4) / 2.71, 1e-14);
  EXPECT_EQ(smoothed[2].rate, 3);
}

TEST(FindLearningRate, TrainsByRisingRatesAndEvaluatesNothing) {
  RunOptions options{.settings = testing::SmallSettings(2, 1, 2),
                     .out = ::testing::TempDir() + "/find_lr"};
  // All images in every step, as they are: only the rate makes the losses differ.
  options.settings.batch_size = 90;
  options.settings.augment = "none";
  std::filesystem::remove_all(options.out);
  int evaluations = 0;
  const RateSearch search =
      FindLearningRate(options, {.on_evaluate = [&](const Evaluation&) { ++evaluations; }});
  EXPECT_EQ(evaluations, 0);
  EXPECT_TRUE(search.finished);
  EXPECT_EQ(search.folder, options.out);
  ASSERT_GT(search.steps.size(), 50u);
  EXPECT_LE(std::ssize(search.steps), kSearchSteps);
  EXPECT_DOUBLE_EQ(search.steps[0].rate, 1e-7);
  const double factor = std::pow(1e8, 1.0 / (kSearchSteps - 1));
  for (size_t i = 1; i < search.steps.size(); ++i)
    EXPECT_NEAR(search.steps[i].rate / search.steps[i - 1].rate, factor, 1e-9);
  ASSERT_TRUE(search.rate.has_value());
  EXPECT_NE(ToText(search).find("suggested: --lr "), std::string::npos) << ToText(search);
  options.resume = options.out;
  EXPECT_THROW(FindLearningRate(options), BadInput);
}

TEST(FindLearningRate, CanBeStopped) {
  RunOptions options{.settings = testing::SmallSettings(1, 1, 2),
                     .out = ::testing::TempDir() + "/find_lr_stopped"};
  std::filesystem::remove_all(options.out);
  int steps = 0;
  const RateSearch search =
      FindLearningRate(options, {.on_step = [&](const parallel::StepReport&) { ++steps; },
                                 .stop = [&] { return steps >= 3; }});
  EXPECT_FALSE(search.finished);
  EXPECT_LT(search.steps.size(), 10u);
}

// As before, but by the token alone.
TEST(FindLearningRate, IsStoppedByTheTokenToo) {
  RunOptions options{.settings = testing::SmallSettings(1, 1, 2),
                     .out = ::testing::TempDir() + "/find_lr_token"};
  std::filesystem::remove_all(options.out);
  int steps = 0;
  std::stop_source source;
  const RateSearch search = FindLearningRate(options, {.on_step =
                                                           [&](const parallel::StepReport&) {
                                                             if (++steps == 3)
                                                               source.request_stop();
                                                           },
                                                       .stop_token = source.get_token()});
  EXPECT_FALSE(search.finished);
  EXPECT_FALSE(search.diverged);
  EXPECT_LT(search.steps.size(), 10u);
  const std::string text = ToText(search);
  EXPECT_NE(text.find("then it was stopped"), std::string::npos) << text;
  EXPECT_EQ(text.find("diverged"), std::string::npos) << text;
}

parallel::StepReport Report(int64_t step, double loss, bool skipped = false) {
  return {.step = step, .loss = loss, .skipped = skipped, .learning_rate = 0.1};
}

// A loss scale that is halved is no divergence, and the last step ends the search all the same.
TEST(RateSteps, LeaveOutSkippedStepsOfAFiniteLoss) {
  for (const bool last_too : {false, true}) {
    RateSteps steps;
    for (int64_t step = 0; step < kSearchSteps; ++step) {
      EXPECT_FALSE(steps.done()) << step;
      steps.Add(Report(step, 2, step == 0 || step == 7 || (last_too && step == kSearchSteps - 1)));
    }
    EXPECT_TRUE(steps.done());
    EXPECT_FALSE(steps.diverged());
    EXPECT_EQ(std::ssize(steps.steps()), kSearchSteps - (last_too ? 3 : 2));
  }
}

TEST(RateSteps, EndWhereTheLossDiverges) {
  for (const double loss : {1e3, static_cast<double>(INFINITY)}) {
    RateSteps steps;
    steps.Add(Report(0, 1));
    steps.Add(Report(1, loss, !std::isfinite(loss)));
    EXPECT_TRUE(steps.done());
    EXPECT_TRUE(steps.diverged());
    steps.Add(Report(2, 1));
    EXPECT_EQ(steps.steps().size(), 1u);
  }
}

}  // namespace
}  // namespace torus::recipes
