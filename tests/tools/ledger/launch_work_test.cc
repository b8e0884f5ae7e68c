// What is counted of kernels whose accesses are known.
#include "tools/ledger/launch_work.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/on_device.h"
#include "tests/tools/ledger/sample_kernels.h"

namespace torus::ledger {
namespace {

constexpr int64_t kCount = int64_t{1} << 21;  // elements: twice the threads of the largest grid
constexpr double kBytes = 4.0 * kCount;

class Collector : public emulated_gpu::Observer {
 public:
  void OnLaunch(const emulated_gpu::SeenLaunch& launch) override { works = WorkOf(launch); }
  void OnCopy(void*, const void*, size_t, StreamHandle) override {}
  std::vector<Work> works;
};

class LaunchWorkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulatedGpu) GTEST_SKIP() << "there are instrumented kernels for emulated GPUs alone";
#ifdef TORUS_SANITIZER
    GTEST_SKIP() << "two sanitizers do not go together";
#endif
    emulated_gpu::SetCurrentDevice(0);
    from_ = emulated_gpu::TakeMemory(0, 8 * kCount * sizeof(float));
    to_ = emulated_gpu::TakeMemory(0, 8 * kCount * sizeof(float));
  }
  void TearDown() override {
    if (from_ == nullptr) return;
    emulated_gpu::GiveMemory(0, from_);
    emulated_gpu::GiveMemory(0, to_);
  }

  const float* from() const { return static_cast<const float*>(from_); }
  float* to() const { return static_cast<float*>(to_); }
  const int64_t* numbers() const { return static_cast<const int64_t*>(from_); }
  int64_t* results() const { return static_cast<int64_t*>(to_); }

  std::vector<Work> AllOf(const std::function<void()>& launch) {
    launch();
    emulated_gpu::WaitForStream(nullptr);
    return std::move(collector_.works);
  }
  Work Of(const std::function<void()>& launch) { return std::move(AllOf(launch).front()); }

 private:
  Collector collector_;
  emulated_gpu::Observed observed_{collector_};
  void *from_ = nullptr, *to_ = nullptr;
};

TEST_F(LaunchWorkTest, ACopyMovesWhatItMust) {
  if constexpr (kEmulatedGpu) {
    const Work work = Of([&] { cuda::CopyEvery(from(), to(), 1, kCount, nullptr); });
    EXPECT_EQ(work.kernel, "Every");
    EXPECT_EQ(work.op, "sample");
    EXPECT_DOUBLE_EQ(work.must(), 2 * kBytes);
    EXPECT_DOUBLE_EQ(work.sectors(), 2 * kBytes);
    EXPECT_DOUBLE_EQ(work.moved, 2 * kBytes);
    EXPECT_DOUBLE_EQ(work.requested, 2 * kBytes);
  }
}

TEST_F(LaunchWorkTest, AStrideMovesASectorForEachElement) {
  if constexpr (kEmulatedGpu) {
    const Work work = Of([&] { cuda::CopyEvery(from(), to(), 8, kCount, nullptr); });
    EXPECT_DOUBLE_EQ(work.must(), 2 * kBytes);
    EXPECT_DOUBLE_EQ(work.moved, 9 * kBytes);
    EXPECT_DOUBLE_EQ(work.requested, 9 * kBytes);
  }
}

TEST_F(LaunchWorkTest, PacksAreMovedByASingleInstruction) {
  if constexpr (kEmulatedGpu) {
    const Work narrow = Of([&] { cuda::CopyEvery(from(), to(), 1, kCount, nullptr); });
    const Work wide = Of([&] { cuda::CopyPacks(from(), to(), kCount, nullptr); });
    EXPECT_DOUBLE_EQ(wide.moved, 2 * kBytes);
    EXPECT_DOUBLE_EQ(wide.requested, 2 * kBytes);
    EXPECT_LT(wide.instructions, 0.5 * narrow.instructions);
  }
}

TEST_F(LaunchWorkTest, WhatAllReadCountsOnce) {
  if constexpr (kEmulatedGpu) {
    const Work work = Of([&] { cuda::CopyFirst(from(), to(), kCount, nullptr); });
    ASSERT_EQ(work.read.size(), 1u);
    EXPECT_EQ(work.read[0].tensor, from());
    EXPECT_DOUBLE_EQ(work.written[0].bytes, kBytes);
    // Each warp asks for its sector.
    EXPECT_DOUBLE_EQ(work.requested, kBytes + 32.0 * kCount / 32);
  }
}

TEST_F(LaunchWorkTest, LoadsOfFourTurnsOverlapUnlessAStoreStandsBetween) {
  if constexpr (kEmulatedGpu) {
    const Work sums = Of([&] { cuda::SumColumn(from(), to(), 256, 64, nullptr); });
    const Work stores = Of([&] { cuda::StoreSums(from(), to(), 256, 64, nullptr); });
    EXPECT_DOUBLE_EQ(sums.waits, 1 + 63 * 0.25);  // of the first, and a fourth of each turn's
    EXPECT_DOUBLE_EQ(stores.waits, 64);
  }
}

// Most turns of the long loop are not followed.
TEST_F(LaunchWorkTest, TheTurnsOfALongLoopAreLikeThoseOfAShortOne) {
  if constexpr (kEmulatedGpu) {
    const auto of = [&](int64_t turns) {
      return Of([&] { cuda::SumColumn(from(), to(), 256, turns, nullptr); });
    };
    const Work some = of(64), more = of(128), many = of(4096);
    const double turn = (more.instructions - some.instructions) / 64;
    EXPECT_NEAR((many.instructions - some.instructions) / (4096 - 64) / turn, 1, 0.05);
    EXPECT_NEAR(many.waits, 1024, 50);
  }
}

// And not the emulation's, of which each has hundreds.
TEST_F(LaunchWorkTest, WhatAWarpDoesTogetherIsOneInstruction) {
  if constexpr (kEmulatedGpu) {
    const Work copy = Of([&] { cuda::CopyEvery(from(), to(), 1, kCount, nullptr); });
    const Work sums = Of([&] { cuda::SumWarps(from(), to(), kCount, nullptr); });
    const auto* const words = reinterpret_cast<const uint32_t*>(from());
    const Work products = Of([&] { cuda::MultiplyWarps(words, to(), kCount, nullptr); });
    EXPECT_GT(sums.instructions, copy.instructions + 5.0 * 4 * kCount);
    EXPECT_LT(sums.instructions, copy.instructions + 5.0 * 40 * kCount);
    EXPECT_GT(products.instructions, copy.instructions + 4.0 * 16 * kCount);
    EXPECT_LT(products.instructions, copy.instructions + 4.0 * 80 * kCount);
  }
}

// A group's last block reads its parts, the others do not. All memory lies in one tensor but the
// elements that are summed.
TEST_F(LaunchWorkTest, WhatTheLastBlocksDoComesOfAsManyBlocksAsThereAreGroups) {
  if constexpr (kEmulatedGpu) {
    constexpr int64_t kBlocks = 512, kSummed = 256 * kBlocks;
    float* const parts = to();
    auto* const arrivals = reinterpret_cast<uint32_t*>(to() + 3 * kCount);
    for (const int64_t of_group : {kBlocks, int64_t{64}}) {
      const int64_t groups = kBlocks / of_group;
      const std::vector<Work> works = AllOf([&] {
        cuda::SumGroups(from(), parts, to() + kCount, arrivals, of_group, kSummed, nullptr);
      });
      ASSERT_EQ(works.size(), 2u);
      const Work &sums = works[0], &last = works[1];
      EXPECT_EQ(sums.launches, 1);
      EXPECT_DOUBLE_EQ(sums.must(), 4.0 * (kSummed + kBlocks));
      EXPECT_EQ(last.kernel, sums.kernel + ", last blocks");
      EXPECT_EQ(last.launches, 0);
      EXPECT_DOUBLE_EQ(last.blocks, groups);
      EXPECT_DOUBLE_EQ(last.threads, 256.0 * groups);
      ASSERT_EQ(last.read.size(), 1u);
      ASSERT_EQ(last.written.size(), 1u);
      EXPECT_DOUBLE_EQ(last.read[0].bytes, 4.0 * kBlocks);
      EXPECT_DOUBLE_EQ(last.written[0].bytes, 4.0 * groups);
      EXPECT_DOUBLE_EQ(last.moved, 4.0 * kBlocks + 32.0 * groups);
      EXPECT_NEAR(last.waits, 0.25 * static_cast<double>(of_group), 2);
      EXPECT_GT(last.instructions, last.threads * static_cast<double>(of_group));
      for (int64_t group = 0; group < groups; ++group) EXPECT_EQ(arrivals[group], 0u);
    }
  }
}

// Which is waited for twice: by the fence, and for the number.
TEST_F(LaunchWorkTest, AnArrivalIsWaitedFor) {
  if constexpr (kEmulatedGpu) {
    auto* const arrivals = reinterpret_cast<uint32_t*>(to() + 3 * kCount);
    const auto of = [&](int64_t of_group) {
      return AllOf([&] {
        cuda::SumGroups(from(), to(), to() + kCount, arrivals, of_group, kCount, nullptr);
      });
    };
    const std::vector<Work> alone = of(1), groups = of(64);
    ASSERT_EQ(alone.size(), 1u);
    EXPECT_DOUBLE_EQ(groups[0].waits, 1 + 2);
    EXPECT_DOUBLE_EQ(alone[0].waits, 1 + 1) << "its elements, then its part";
  }
}

TEST_F(LaunchWorkTest, ADivisionIsManyInstructions) {
  if constexpr (kEmulatedGpu) {
    const Work divides = Of([&] { cuda::DivideBy(numbers(), results(), 7, kCount, nullptr); });
    const Work adds = Of([&] { cuda::AddTo(numbers(), results(), 7, kCount, nullptr); });
    EXPECT_GT(divides.instructions, adds.instructions + 70.0 * kCount);
  }
}

TEST_F(LaunchWorkTest, TheLastBlockCountsAsItIs) {
  if constexpr (kEmulatedGpu) {
    const Work work = Of([&] { cuda::CopyEvery(from(), to(), 1, 1000, nullptr); });
    EXPECT_DOUBLE_EQ(work.must(), 8000);
  }
}

}  // namespace
}  // namespace torus::ledger
