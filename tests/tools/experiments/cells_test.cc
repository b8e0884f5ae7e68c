// Cells of runs: scores that mean something, and those that say why they do not.
#include "tools/experiments/common/cells.h"

#include <gtest/gtest.h>

#include "recipes/study/run_study.h"
#include "tools/experiments/common/chance.h"

namespace torus::experiments {
namespace {

using nlohmann::json;
using study::Cell;

Runs Some() {
  const auto run = [](const char* name, uint64_t seed, json result) {
    return study::FinishedRun{{name, seed, json::object()}, std::move(result)};
  };
  return {run("none", 1, {{"accuracy", 90.0}, {"signal", true}}),
          run("weak", 1, {{"accuracy", 52.0}, {"signal", false}}),
          run("four", 1, {{"accuracy", 87.0}, {"signal", true}}),
          run("lost", 1, {{"diverged", true}, {"signal", false}}),
          run("after weak", 1, {{"no_signal", true}}),
          run("none", 2, {{"accuracy", 92.0}, {"signal", true}}),
          run("four", 2, {{"accuracy", 88.0}, {"signal", true}}),
          // A codec that falls back to chance has a signal where none has one.
          run("chance", 1, {{"accuracy", 10.0}, {"signal", false}}),
          run("chance", 2, {{"accuracy", 12.0}, {"signal", false}}),
          run("half", 1, {{"diverged", true}, {"signal", false}}),
          run("half", 2, {{"accuracy", 91.0}, {"signal", true}}),
          run("null", 1, {{"accuracy", 71.0}, {"loss", nullptr}, {"signal", true}}),
          run("once", 1, {{"accuracy", 30.0}, {"signal", true}}),
          run("once", 2, {{"accuracy", 11.0}, {"signal", false}}),
          run("after once", 1, {{"accuracy", 28.0}, {"signal", true}}),
          run("after once", 2, {{"no_signal", true}})};
}

TEST(ScoreCell, IsMeanAndDeviationOrSaysWhyNot) {
  const Cell four = ScoreCell(Some(), "four", "none", "accuracy");
  EXPECT_DOUBLE_EQ(std::get<study::Measured>(four).mean, 87.5);
  EXPECT_EQ(std::get<study::Measured>(four).count, 2);
  EXPECT_EQ(ScoreCell(Some(), "weak", "weak", "accuracy"), Cell(std::string("no signal (52.00)")));
  EXPECT_EQ(ScoreCell(Some(), "after weak", "weak", "accuracy"), Cell(std::string("no signal")));
  EXPECT_EQ(ScoreCell(Some(), "lost", "none", "accuracy"), Cell(std::string("diverged")));
  EXPECT_EQ(ScoreCell(Some(), "absent", "none", "accuracy"), Cell(std::string("no data")));
}

TEST(ScoreCell, SaysInHowManySeedsThereIsNone) {
  EXPECT_EQ(ScoreCell(Some(), "half", "none", "accuracy"),
            Cell(std::string("91.000, diverged in 1 of 2")));
  EXPECT_EQ(ScoreCell(Some(), "after once", "once", "accuracy"),
            Cell(std::string("28.000, no signal in 1 of 2")));
  EXPECT_EQ(ScoreCell(Some(), "null", "none", "accuracy"), Cell(std::string("diverged")));
  EXPECT_DOUBLE_EQ(std::get<study::Measured>(ScoreCell(Some(), "chance", "none", "accuracy")).mean,
                   11);
}

// The signal is that of the run without a codec, not that of the one compared with.
TEST(DifferenceCell, ShowsWhatFellBackToChance) {
  EXPECT_EQ(DifferenceCell(Some(), "four", "chance", "none", "accuracy"),
            Cell(std::string("+76.50 [+70.15, +82.85]")));
  EXPECT_EQ(DifferenceCell(Some(), "four", "half", "none", "accuracy"),
            Cell(std::string("-3.00, 1 of 2 seeds")));
}

TEST(WorseCell, ComparesEqualSeedsAndCountsThoseThatDiverged) {
  const Cell worse = std::string("worse"), fine = std::string("not worse");
  EXPECT_EQ(WorseCell(Some(), "chance", "four", "none", "accuracy", false), worse);
  EXPECT_EQ(WorseCell(Some(), "chance", "four", "none", "accuracy", true), fine);
  EXPECT_EQ(WorseCell(Some(), "four", "none", "none", "accuracy", false),
            Cell(std::string("worse, within the interval")));
  EXPECT_EQ(WorseCell(Some(), "half", "four", "none", "accuracy", false), worse);
  EXPECT_EQ(WorseCell(Some(), "four", "half", "none", "accuracy", false), fine);
  EXPECT_EQ(WorseCell(Some(), "lost", "four", "none", "accuracy", false), worse);
  EXPECT_EQ(WorseCell(Some(), "lost", "lost", "none", "accuracy", false), Cell());
  EXPECT_EQ(WorseCell(Some(), "absent", "four", "none", "accuracy", false), Cell());
}

TEST(DifferenceCell, PairsSeeds) {
  // -3 and -4: mean -3.5, deviation 0.7071, t of one degree 12.706
  EXPECT_EQ(DifferenceCell(Some(), "four", "none", "none", "accuracy"),
            Cell(std::string("-3.50 [-9.85, +2.85]")));
  EXPECT_EQ(DifferenceCell(Some(), "none", "none", "none", "accuracy"), Cell());
  EXPECT_EQ(DifferenceCell(Some(), "after weak", "weak", "weak", "accuracy"), Cell());
  EXPECT_EQ(DifferenceCell(Some(), "four", "absent", "none", "accuracy"), Cell());
}

TEST(RelativeCell, PairsSeeds) {
  // Of "four" and "none" both seeds, of "half" only the second.
  const Cell both = RelativeCell(Some(), "four", "none", "accuracy");
  EXPECT_DOUBLE_EQ(std::get<study::Measured>(both).mean, (87.0 / 90 + 88.0 / 92) / 2);
  const Cell second = RelativeCell(Some(), "half", "none", "accuracy");
  EXPECT_DOUBLE_EQ(std::get<study::Measured>(second).mean, 91.0 / 92);
  EXPECT_DOUBLE_EQ(std::get<study::Measured>(RelativeCell(Some(), "none", "half", "accuracy")).mean,
                   92.0 / 91);
  EXPECT_EQ(RelativeCell(Some(), "lost", "none", "accuracy"), Cell());
  EXPECT_EQ(RelativeCell(Some(), "four", "absent", "accuracy"), Cell());
}

TEST(TimeCell, NeedsNoSignal) {
  EXPECT_DOUBLE_EQ(std::get<study::Measured>(TimeCell(Some(), "weak", "accuracy", 2)).mean, 104);
  EXPECT_EQ(TimeCell(Some(), "weak", "seconds"), Cell(std::string("no data")));
}

TEST(Signal, IsTenPointsAboveTheMajorityOrBelowTheUnigrams) {
  EXPECT_FALSE(HasSignal({.majority = 50}, 59.9, 0));
  EXPECT_TRUE(HasSignal({.majority = 50}, 60, 0));
  EXPECT_FALSE(HasSignal({.majority = 50}, std::nullopt, 0));
  EXPECT_FALSE(HasSignal({.unigrams = 3.3}, std::nullopt, 3.1));
  EXPECT_TRUE(HasSignal({.unigrams = 3.3}, std::nullopt, 2.9));
}

}  // namespace
}  // namespace torus::experiments
