// Wherever MobileNetV2 is cut, 50 steps give the same bits.
#include <cmath>

#include "runtime/allocator.h"
#include "tests/recipes/run/image_run.h"

namespace torus::recipes::testing {
namespace {

constexpr int64_t kSteps = 50;

struct Outcome {
  std::vector<double> losses;
  parallel::TrainState state;
};

Outcome TrainWith(Settings settings, parallel::TrainerOptions options = {}) {
  ImageRun run(settings, std::move(options));
  run.TrainTo(kSteps);
  return {run.losses(), run.trainer().State()};
}

void ExpectSame(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.losses.size(), static_cast<size_t>(kSteps));
  EXPECT_EQ(a.losses, b.losses);
  ExpectEqualBits(a.state.weights, b.state.weights);
  ExpectEqualBits(a.state.optimizer, b.state.optimizer);
}

const Outcome& OneStage() {
  static const Outcome outcome = TrainWith(SmallSettings(1, 1, 4));
  return outcome;
}

TEST(EveryCut, TwoStagesGiveTheBitsOfOne) {
  ExpectSame(OneStage(), TrainWith(SmallSettings(2, 1, 4)));
}

TEST(EveryCut, ThreeStagesGiveTheBitsOfOne) {
  ExpectSame(OneStage(), TrainWith(SmallSettings(3, 1, 4), {.cuts = {1, 18}}));
}

TEST(EveryCut, TheRunMoves) {
  const std::vector<double>& losses = OneStage().losses;
  for (const double loss : losses) EXPECT_TRUE(std::isfinite(loss)) << loss;
  for (size_t step = 1; step < losses.size(); ++step)
    EXPECT_NE(losses[step], losses[step - 1]) << step;
}

// What a memory budget may ask for changes no bit either.
TEST(EveryCut, RoundsAndRecomputedActivationsGiveTheSameBits) {
  Settings settings = SmallSettings(2, 1, 2);
  settings.accumulate = 2;
  settings.recompute = "all";
  ExpectSame(OneStage(), TrainWith(settings));
}

// Rounding is of each activation by itself, wherever the cut.
TEST(EveryCut, ActivationsKeptAsBf16GiveTheSameBitsInEveryCut) {
  Settings settings = SmallSettings(1, 1, 4);
  settings.activation_storage = "bf16";
  const Outcome one = TrainWith(settings);
  settings.stages = 3;
  ExpectSame(one, TrainWith(settings));
  EXPECT_NE(one.losses, OneStage().losses);
}

// Most bytes that were alive at once in two steps of one stage.
size_t PeakOf(const std::string& recompute, const std::string& storage = "f32") {
  Settings settings = SmallSettings(1, 1, 4);
  settings.recompute = recompute;
  settings.activation_storage = storage;
  ImageRun run(settings);
  run.TrainTo(1);
  AllocatorFor({}).ResetPeak();
  run.TrainTo(3);
  return AllocatorFor({}).stats().peak_bytes;
}

TEST(Recompute, PeakMemoryFalls) {
  const size_t kept = PeakOf("none"), again = PeakOf("all");
  RecordProperty("kept", static_cast<int>(kept));
  RecordProperty("again", static_cast<int>(again));
  EXPECT_LT(again, kept);
}

TEST(ActivationStorage, PeakMemoryFallsWithBf16) {
  EXPECT_LT(PeakOf("none", "bf16"), PeakOf("none"));
}

}  // namespace
}  // namespace torus::recipes::testing
