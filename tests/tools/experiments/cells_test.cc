// Cells of runs: scores that mean something, and those that say why they do not.
#include "tools/experiments/common/cells.h"

#include <gtest/gtest.h>

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
          run("four", 2, {{"accuracy", 88.0}, {"signal", true}})};
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

TEST(DifferenceCell, PairsSeeds) {
  // -3 and -4: mean -3.5, deviation 0.7071, t of one degree 12.706
  EXPECT_EQ(DifferenceCell(Some(), "four", "none", "accuracy"),
            Cell(std::string("-3.50 [-9.85, +2.85]")));
  EXPECT_EQ(DifferenceCell(Some(), "none", "none", "accuracy"), Cell());
  EXPECT_EQ(DifferenceCell(Some(), "after weak", "weak", "accuracy"), Cell());
  EXPECT_EQ(DifferenceCell(Some(), "four", "absent", "accuracy"), Cell());
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
