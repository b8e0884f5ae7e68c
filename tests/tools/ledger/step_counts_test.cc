// Launches and bytes of eight training steps do not grow.
#include "tools/ledger/step_counts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "runtime/error.h"
#include "runtime/on_device.h"
#include "tools/ledger/step_ledger.h"
#include "tools/ledger/step_time.h"
#include "tools/ledger/step_work.h"

namespace torus::ledger {
namespace {

constexpr const char* kHeld = "tests/tools/ledger/step_counts.txt";
constexpr double kPlay = 1.001;  // where a tensor begins decides about a sector at its end

std::map<std::string, StepCounts> Held() {
  std::ifstream in(kHeld);
  return ReadCounts(in);
}

// There may be one, before any memory of a GPU was taken.
Works Recorded(const std::string& step) {
  static StepLedger ledger;
  return CountStep(ledger, step, "bf16");
}

StepCounts Counted(const std::string& step) { return CountsOf(Recorded(step)); }

class StepCountsTest : public testing::TestWithParam<std::string> {};

TEST_P(StepCountsTest, DoNotGrow) {
#ifdef TORUS_SANITIZER
  GTEST_SKIP() << "two sanitizers do not go together";
#endif
  if (!kEmulatedGpu) GTEST_SKIP() << "there are instrumented kernels for emulated GPUs alone";
  const auto held = Held();
  ASSERT_TRUE(held.contains(GetParam())) << kHeld;
  const StepCounts now = Counted(GetParam());
  const StepCounts& before = held.at(GetParam());
  std::ostringstream line;
  PrintCounts(GetParam(), now, line);
  SCOPED_TRACE("with a reason in docs/decisions.md the line may become: " + line.str());
  EXPECT_EQ(now.launches, before.launches);
  EXPECT_LE(static_cast<double>(now.must), kPlay * static_cast<double>(before.must));
  EXPECT_LE(static_cast<double>(now.moved), kPlay * static_cast<double>(before.moved));
}

INSTANTIATE_TEST_SUITE_P(Steps, StepCountsTest,
                         testing::Values("gpt2:4x256", "gpt2:16x1024", "roberta:8x128",
                                         "roberta:32x128", "resnet18:128x32", "vgg13:64x32",
                                         "mobilenet_v2:16x224", "mobilenet_v2:256x224"));

struct DropoutCost {
  const char* step;
  double most;  // times the step without
};

void PrintTo(const DropoutCost& cost, std::ostream* out) { *out << cost.step; }

class DropoutTest : public testing::TestWithParam<DropoutCost> {};

// With the models' own rates: draws are shared by what they are for, and kept where that is cheaper
// than drawing again.
TEST_P(DropoutTest, CostsNoMoreThanIsHeld) {
#ifdef TORUS_SANITIZER
  GTEST_SKIP() << "two sanitizers do not go together";
#endif
  if (!kEmulatedGpu) GTEST_SKIP() << "there are instrumented kernels for emulated GPUs alone";
  const std::string step = GetParam().step;
  const double without = TimeOf(Recorded(step)).graph;
  const double with = TimeOf(Recorded(step + ":dropout")).graph;
  EXPECT_GT(with, without);
  EXPECT_LE(with, GetParam().most * without);
}

// 15 % is asked of both. GPT-2 has not reached it (docs/ledger.md): it is held at what was counted,
// so that it cannot grow.
INSTANTIATE_TEST_SUITE_P(Steps, DropoutTest,
                         testing::Values(DropoutCost{"gpt2:4x256", 1.23},
                                         DropoutCost{"roberta:8x128:mask", 1.15}));

// Which leaves the memory that it took with what it wrote there.
TEST(StepCounts, AreTheSameBehindAnotherStep) {
#ifdef TORUS_SANITIZER
  GTEST_SKIP() << "two sanitizers do not go together";
#endif
  if (!kEmulatedGpu) GTEST_SKIP() << "there are instrumented kernels for emulated GPUs alone";
  const StepCounts first = Counted("resnet18:128x32");
  Counted("vgg13:64x32");
  const StepCounts again = Counted("resnet18:128x32");
  EXPECT_EQ(again.launches, first.launches);
  EXPECT_EQ(again.must, first.must);
  EXPECT_EQ(again.moved, first.moved);
}

TEST(StepCounts, AreReadAsTheyArePrinted) {
  std::stringstream text;
  PrintCounts("gpt2:1x8", {3, 40, 50}, text);
  EXPECT_EQ(text.str(), "gpt2:1x8 3 40 50\n");
  const auto read = ReadCounts(text);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read.at("gpt2:1x8").moved, 50);
}

TEST(StepCounts, ALineThatIsNoneIsRefused) {
  for (const char* line : {"gpt2:1x8 3 40", "gpt2:1x8 3 40 50 60", "gpt2:1x8 three 40 50"}) {
    std::istringstream in(line);
    EXPECT_THROW(ReadCounts(in), BadInput) << line;
  }
}

}  // namespace
}  // namespace torus::ledger
