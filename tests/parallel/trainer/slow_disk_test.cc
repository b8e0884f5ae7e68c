// Work that takes several times the timeout: a slow disk ends nobody, a hanging one is found.
#include "runtime/io/slow_disk.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "parallel/trainer/checkpoint.h"
#include "parallel/trainer/trainer.h"
#include "parallel/transport/run_ranks.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::PartsOfShapes;
using testing::ToyRun;

constexpr double kTimeout = 1;        // seconds
constexpr int64_t kRows = 48 * 1024;  // of the second layer: 384 KiB, while the first has 64 bytes

class SlowDisk : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder_); }
  void TearDown() override { io::EmulateDisk(-1); }
  const std::string folder_ = ::testing::TempDir() + "/slow_disk_test";
};

// The first rank waits for the second for three timeouts, and whoever watches them both sees
// neither compute.
TEST_F(SlowDisk, EndsNobody) {
  ToyRun run;
  run.options = {.stages = 2, .cuts = {1}, .timeout = kTimeout, .grace = kTimeout};
  Trainer trainer(run.options, PartsOfShapes(run, {Shape{8}, Shape{kRows}}));
  io::EmulateDisk(kRows * sizeof(double) / (3 * kTimeout));
  trainer.Save(folder_);
  io::EmulateDisk(-1);
  EXPECT_EQ(LoadCheckpoint(folder_).weights.size(), 2u);
}

// Nothing can be done for a thread inside of a call that does not return, but say which it is. In a
// process of its own, which ends without waiting for it.
TEST_F(SlowDisk, OneThatHangsIsFoundAndTheRankNamed) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto save = [this] {
    ToyRun run;
    run.options = {.stages = 2, .cuts = {1}, .timeout = kTimeout, .grace = kTimeout};
    Trainer trainer(run.options, PartsOfShapes(run, {Shape{8}, Shape{kRows}}));
    io::EmulateDisk(0);
    trainer.Save(folder_);
  };
  const auto fails = [&] {
    try {
      save();
    } catch (const StuckRank& stuck) {
      std::fputs(stuck.what(), stderr);
      _exit(1);
    }
  };
  EXPECT_EXIT(fails(), ::testing::ExitedWithCode(1), "rank 0, 1 .*writing of a checkpoint");
}

// A model that takes three timeouts to build, page by page.
TEST_F(SlowDisk, ASlowModelEndsNobody) {
  ToyRun run;
  run.options = {.stages = 2, .cuts = {1}, .timeout = kTimeout, .grace = kTimeout};
  TrainingParts parts = PartsOfShapes(run, {Shape{8}, Shape{kRows}});
  io::EmulateDisk(1e6);
  parts.model = [make = parts.model] {
    io::WaitForEmulatedDisk(static_cast<size_t>(1e6 * 3 * kTimeout / 2));  // for each rank
    return make();
  };
  EXPECT_EQ(Trainer(run.options, parts).step(), 0);
}

}  // namespace
}  // namespace torus::parallel
