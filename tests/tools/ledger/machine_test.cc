// Which of a kernel's terms decides how long it takes.
#include "tools/ledger/machine.h"

#include <gtest/gtest.h>

namespace torus::ledger {
namespace {

const char kTensor = 0;

// Of powers of two, so that sums and quotients are exact.
constexpr Machine kMachine{.memory_bytes = 1024,
                           .cache_bytes = 2048,
                           .instructions = 4096,
                           .wait = 2,
                           .launch = 1,
                           .gap = 0,
                           .product_start = 8,
                           .unaligned = 4};

Work Reads(double bytes) {
  return {.read = {{&kTensor, bytes, bytes, bytes}}, .moved = bytes, .threads = 1};
}

TEST(Machine, TheSlowestTermDecides) {
  Work work = Reads(4096);
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 4);
  work.moved = 5 * 2048;
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 5);
  work.instructions = 6 * 4096;
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 6);
  work.waits = 7;
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 14);
}

TEST(Machine, WhatIsCachedComesFromTheCache) {
  const Work work = Reads(4096);
  EXPECT_EQ(kMachine.Seconds(work, 1024), 1 + 3);
  EXPECT_EQ(kMachine.Seconds(work, 4096), 1 + 2);
}

TEST(Machine, MoreThreadsThanAreResidentWaitInRounds) {
  Work work = Reads(32);
  work.waits = 1;
  work.threads = kMultiprocessors * kResidentThreads;
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 2);
  work.threads *= 4;
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 8);
}

// And no launch; what they wait for, they wait for once.
TEST(Machine, LastBlocksHaveOneMultiprocessorEach) {
  Work work = Reads(4096);
  work.launches = 0;
  work.blocks = kMultiprocessors;
  EXPECT_EQ(kMachine.Seconds(work, 0), 4);
  work.blocks = kMultiprocessors / 4;
  EXPECT_EQ(kMachine.Seconds(work, 4096), 4 * 2);
  work.instructions = 3 * 4096;
  EXPECT_EQ(kMachine.Seconds(work, 4096), 4 * 3);
  work.waits = 7;
  work.threads = 4 * kMultiprocessors * kResidentThreads;
  EXPECT_EQ(kMachine.Seconds(work, 4096), 14);
}

TEST(Machine, CopiesFromAndToTheCpuTakeTheBussTime) {
  Work work = Reads(4096);
  work.over_bus = 3 * kBusBytes;
  EXPECT_EQ(kMachine.Seconds(work, 0), 1 + 3);
}

// A tile takes a second and a half of a multiprocessor.
TEST(Machine, AProductTakesWavesOfTiles) {
  Work work = Reads(32);
  work.library = true;
  work.unit = Unit::kLow;
  work.tiles = kMultiprocessors;
  work.tile_flops = 1.5 * RateOf(Unit::kLow) / kMultiprocessors;
  work.flops = work.tiles * work.tile_flops;
  EXPECT_DOUBLE_EQ(kMachine.Seconds(work, 0), 8 + 1.5);
  work.tiles += 1;
  EXPECT_DOUBLE_EQ(kMachine.Seconds(work, 0), 8 + 3);
  work.launches = 2;
  EXPECT_DOUBLE_EQ(kMachine.Seconds(work, 0), 16 + 3);
  work.unaligned = true;
  EXPECT_DOUBLE_EQ(kMachine.Seconds(work, 0), 16 + 12);
}

}  // namespace
}  // namespace torus::ledger
