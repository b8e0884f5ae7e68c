// What a ledger records of launches and copies, and which launches it takes for one another.
#include "tools/ledger/step_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/cuda_api.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/on_device.h"
#include "tests/tools/ledger/sample_kernels.h"

namespace torus::ledger {
namespace {

constexpr int64_t kCount = int64_t{1} << 17;  // elements: more threads than a small launch has
constexpr uint32_t kBlocks = kCount / 256;
constexpr size_t kTaken = 8 * kCount * sizeof(float);
constexpr double kBytes = 4.0 * kCount;

// There may be one, before any memory of a GPU was taken.
StepLedger& Ledger() {
  static StepLedger ledger;
  return ledger;
}

class StepLedgerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!kEmulatedGpu) GTEST_SKIP() << "there are instrumented kernels for emulated GPUs alone";
#ifdef TORUS_SANITIZER
    GTEST_SKIP() << "two sanitizers do not go together";
#endif
    emulated_gpu::SetCurrentDevice(0);
    Ledger().Begin();
  }
  void TearDown() override {
    for (float* block : taken_) emulated_gpu::GiveMemory(0, block);
  }

  float* Take(size_t bytes = kTaken) {
    taken_.push_back(static_cast<float*>(emulated_gpu::TakeMemory(0, bytes)));
    return taken_.back();
  }

  void ExpectCopy(const Work& work, const float* from, const float* to) {
    ASSERT_EQ(work.read.size(), 1u);
    ASSERT_EQ(work.written.size(), 1u);
    EXPECT_EQ(work.read[0].tensor, from);
    EXPECT_EQ(work.written[0].tensor, to);
    EXPECT_DOUBLE_EQ(work.must(), 2 * kBytes);
  }

 private:
  std::vector<float*> taken_;
};

TEST_F(StepLedgerTest, KnowsALaunchAgainByOtherAddresses) {
  if constexpr (kEmulatedGpu) {
    const auto a = Take(), b = Take(), c = Take(), d = Take();
    cuda::CopyEvery(a, b, 1, kCount, nullptr);
    c[0] = 1;
    cuda::CopyEvery(c, d, 1, kCount, nullptr);
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 2u);
    ExpectCopy(*works[0], a, b);
    ExpectCopy(*works[1], c, d);
  }
}

// Both times with what the last block does, and the counters hold what they held.
TEST_F(StepLedgerTest, ALaunchThatEndsWhatItsBlocksHaveBegunIsTwoEntries) {
  if constexpr (kEmulatedGpu) {
    const auto a = Take(), b = Take(), parts = Take(), more_parts = Take(), sums = Take();
    auto* const arrivals = reinterpret_cast<uint32_t*>(Take());
    cuda::SumGroups(a, parts, sums, arrivals, kBlocks, kCount, nullptr);
    cuda::SumGroups(b, more_parts, sums, arrivals, kBlocks, kCount, nullptr);
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 4u);
    for (const size_t first : {0u, 2u}) {
      const auto* const of_launch = first == 0 ? parts : more_parts;
      EXPECT_EQ(works[first]->launches, 1);
      EXPECT_EQ(works[first + 1]->launches, 0);
      ASSERT_EQ(works[first + 1]->read.size(), 1u);
      EXPECT_EQ(works[first + 1]->read[0].tensor, of_launch);
      EXPECT_DOUBLE_EQ(works[first + 1]->read[0].bytes, 4.0 * kBlocks);
    }
    EXPECT_EQ(arrivals[0], 0u);
  }
}

TEST_F(StepLedgerTest, ALaunchInPlaceIsNotLikeOneIntoAnotherTensor) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take();
    // With a step that no other test has, so that the first is counted, not known again.
    cuda::CopyEvery(x, x, 2, kCount, nullptr);
    cuda::CopyEvery(x, y, 2, kCount, nullptr);
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 2u);
    ExpectCopy(*works[0], x, x);
    ExpectCopy(*works[1], x, y);
  }
}

TEST_F(StepLedgerTest, TheSameKernelCountsForTheOpThatLaunchesIt) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take();
    cuda::CopyEvery(x, y, 1, kCount, nullptr, "cast");
    cuda::CopyEvery(x, y, 1, kCount, nullptr, "copy");
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 2u);
    EXPECT_EQ(works[0]->op, "cast");
    EXPECT_EQ(works[1]->op, "copy");
  }
}

// Blocks that are traced write, and a launch of this size is not computed otherwise.
TEST_F(StepLedgerTest, KnowsAKernelAgainWhoseAddressesFollowASmallerParameter) {
  if constexpr (kEmulatedGpu) {
    const auto a = Take(), b = Take(), c = Take(), d = Take();
    cuda::CopyBlocks(kBlocks, a, b, nullptr);
    for (int64_t i = 0; i < kCount; ++i) c[i] = 1;
    cuda::CopyBlocks(kBlocks, c, d, nullptr);
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 2u);
    ExpectCopy(*works[1], c, d);
    for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(d[i], 0) << "traced anew at " << i;
  }
}

TEST_F(StepLedgerTest, TheLastParameterTellsLaunchesApart) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take();
    for (const uint32_t step : {1u, 8u}) cuda::CopyBlocksEvery(kBlocks, x, y, step, nullptr);
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 2u);
    EXPECT_DOUBLE_EQ(works[0]->moved, 2 * kBytes);
    EXPECT_DOUBLE_EQ(works[1]->moved, 9 * kBytes);
  }
}

TEST_F(StepLedgerTest, SoDoKernelsOfTheSameParameters) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take();
    for (const bool twice : {false, true}) cuda::CopyFixed(twice, kBlocks, x, y, nullptr);
    const auto works = Ledger().End();
    ASSERT_EQ(works.size(), 2u);
    EXPECT_DOUBLE_EQ(works[0]->moved, 2 * kBytes);
    EXPECT_DOUBLE_EQ(works[1]->moved, 3 * kBytes);
  }
}

TEST_F(StepLedgerTest, ASmallResultThatIsNotComputedIsZero) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take(kCount * sizeof(float));
    for (const char* which : {"counted", "known again"}) {
      std::fill_n(y, kCount, 1.0f);
      cuda::CopyEvery(x, y, 1, kCount, nullptr, "result");
      emulated_gpu::WaitForDevice(0);
      for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(y[i], 0) << which << " " << i;
    }
    Ledger().End();
  }
}

// A batch is uploaded while kernels compute; a graph's numbers and copies within the GPU are not.
TEST_F(StepLedgerTest, KnowsWhatIsCopiedBesideTheKernels) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take();
    const std::vector<float> here(kCount);
    const StreamHandle upload = emulated_gpu::MakeStream();
    cuda::CopyBytes(x, here.data(), 4 * kCount, upload);
    emulated_gpu::WaitForStream(upload);
    cuda::CopyBytes(x, here.data(), 64, nullptr);
    emulated_gpu::WaitForStream(nullptr);
    cuda::CopyBytes(y, x, 4 * kCount, upload);
    emulated_gpu::WaitForStream(upload);
    const auto works = Ledger().End();
    emulated_gpu::DropStream(upload);
    ASSERT_EQ(works.size(), 3u);
    EXPECT_TRUE(works[0]->beside);
    EXPECT_FALSE(works[1]->beside);
    EXPECT_FALSE(works[2]->beside) << "as a copy of a recorded step, in the stream it was recorded";
  }
}

// Though it runs only when someone waits for it.
TEST_F(StepLedgerTest, RecordsWhatIsLaunchedBetweenBeginAndEnd) {
  if constexpr (kEmulatedGpu) {
    const auto x = Take(), y = Take();
    cuda::CopyEvery(x, y, 1, kCount, nullptr);
    Ledger().Begin();
    cuda::CopyEvery(y, x, 1, kCount, nullptr);
    const auto works = Ledger().End();
    cuda::CopyEvery(x, y, 1, kCount, nullptr);
    ASSERT_EQ(works.size(), 1u);
    ExpectCopy(*works[0], y, x);
    emulated_gpu::WaitForDevice(0);
  }
}

}  // namespace
}  // namespace torus::ledger
