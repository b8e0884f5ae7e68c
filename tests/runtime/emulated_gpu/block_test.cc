// Barriers, exchanges within a warp and shared memory of an emulated GPU's blocks.
#include "runtime/emulated_gpu/block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/emulated_gpu/kernel.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {
namespace {

template <class Body>
void RunBlocks(dim3 grid, dim3 block, const Body& body, size_t shared_bytes = 0) {
  RunGrid("kernel", {grid, block, shared_bytes}, body);
}

template <class Body>
std::string MessageOf(dim3 block, const Body& body) {
  try {
    RunBlocks(1, block, body);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Block, EveryThreadRunsOnceWithItsPlace) {
  std::vector<int> seen(3 * 2 * 2 * 5 * 4 * 3, 0);
  RunBlocks({3, 2, 2}, {5, 4, 3}, [&] {
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    ++seen[block * 60 + thread];
  });
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

// Twice, because every second launch goes through the threads in the opposite direction.
TEST(Block, ABarrierShowsWhatOthersWrote) {
  for (int launch = 0; launch < 2; ++launch) {
    std::vector<unsigned> got(256, 0);
    RunBlocks(1, 256, [&] {
      __shared__ unsigned values[256];
      for (unsigned round = 0; round < 3; ++round) {
        values[threadIdx.x] = threadIdx.x + round;
        __syncthreads();
        got[threadIdx.x] += values[255 - threadIdx.x];
        __syncthreads();
      }
    });
    for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(got[i], 3 * (255 - i) + 3);
  }
}

// A kernel that lacks its barrier reads what is not there yet, in one direction or the other.
TEST(Block, AMissingBarrierShows) {
  int wrong = 0;
  for (int launch = 0; launch < 2; ++launch) {
    std::vector<unsigned> values(64, 0), got(64, 0);
    RunBlocks(1, 64, [&] {
      values[threadIdx.x] = threadIdx.x;
      if (threadIdx.x + 1 < 64) got[threadIdx.x] = values[threadIdx.x + 1];
    });
    for (unsigned i = 0; i + 1 < 64; ++i) wrong += got[i] != i + 1;
  }
  EXPECT_EQ(wrong, 63);
}

// Warps that wait for nothing but their own lanes do not keep pace with each other.
TEST(Block, AMissingBarrierBetweenWarpsThatExchangeShows) {
  for (int launch = 0; launch < 2; ++launch) {
    std::vector<unsigned> values(64, 0), got(64, 0);
    RunBlocks(1, 64, [&] {
      __syncwarp();
      values[threadIdx.x] = threadIdx.x;
      __syncwarp();
      got[threadIdx.x] = values[63 - threadIdx.x];
    });
    int wrong = 0;
    for (unsigned i = 0; i < 64; ++i) wrong += got[i] != 63 - i;
    EXPECT_GE(wrong, 31) << "launch " << launch;
  }
}

// The last warp is not whole, and has two exchanges where the others have one.
TEST(Block, WarpsExchangeBeforeAndAfterEachBarrier) {
  for (int launch = 0; launch < 2; ++launch) {
    std::vector<unsigned> got(72, 0);
    RunBlocks(1, 72, [&] {
      __shared__ unsigned values[72];
      const unsigned me = threadIdx.x, mask = me < 64 ? 0xffffffffu : 0xffu;
      for (unsigned round = 0; round < 3; ++round) {
        values[me] = __shfl_xor_sync(mask, me, 1) + round;
        if (me >= 64) values[me] = __shfl_xor_sync(mask, values[me], 2);
        __syncthreads();
        got[me] += __shfl_xor_sync(mask, values[71 - me], 1);
        __syncthreads();
      }
    });
    for (unsigned i = 0; i < 72; ++i) {
      const unsigned from = 71 - (i ^ 1u), value = from >= 64 ? from ^ 3u : from ^ 1u;
      EXPECT_EQ(got[i], 3 * value + 3) << "launch " << launch << ", thread " << i;
    }
  }
}

TEST(Block, ABarrierThatAThreadPassesByIsAnErrorWithTheKernelsName) {
  const std::string message = MessageOf(64, [] {
    if (threadIdx.x != 5) __syncthreads();
  });
  EXPECT_TRUE(message.starts_with("[kernel] block (0, 0, 0): not all threads reach the barrier"))
      << message;
  EXPECT_NE(message.find("thread 5 has ended"), std::string::npos) << message;
}

TEST(Block, TwoBarriersAreNotOne) {
  const std::string message = MessageOf(2, [] {
    if (threadIdx.x == 0)
      __syncthreads();
    else
      __syncthreads();
  });
  EXPECT_NE(message.find("waits at"), std::string::npos) << message;
}

TEST(Block, TheNextGridRunsAfterAFailure) {
  MessageOf(64, [] {
    if (threadIdx.x > 9) __syncthreads();
  });
  int count = 0;
  RunBlocks(2, 64, [&] {
    __syncthreads();
    ++count;
  });
  EXPECT_EQ(count, 128);
}

TEST(Block, AThreadsExceptionEndsTheGrid) {
  EXPECT_THROW(RunBlocks(3, 64,
                         [] {
                           __syncthreads();
                           if (threadIdx.x == 7) throw std::out_of_range("7");
                           __syncthreads();
                         }),
               std::out_of_range);
}

// The last warp is not whole.
TEST(Warp, ShufflesTakeTheValueOfTheLaneThatTheyName) {
  std::vector<int> down(40), down8(40), any(40), swapped(40);
  RunBlocks(1, 40, [&] {
    const int me = static_cast<int>(threadIdx.x), lane = me % 32;
    const unsigned all = me < 32 ? 0xffffffffu : 0xffu;
    down8[me] = __shfl_down_sync(all, me, 3, 8);
    any[me] = __shfl_sync(all, me, 2);
    swapped[me] = __shfl_xor_sync(all, me, 1);
    if (lane < 8) down[me] = __shfl_up_sync(0xffu, me, 1);
  });
  for (int me = 0; me < 40; ++me) {
    const int lane = me % 32;
    EXPECT_EQ(down8[me], lane % 8 + 3 < 8 ? me + 3 : me);
    EXPECT_EQ(any[me], me / 32 * 32 + 2);
    EXPECT_EQ(swapped[me], me ^ 1);
    if (lane < 8) {
      EXPECT_EQ(down[me], lane == 0 ? me : me - 1);
    }
  }
}

TEST(Warp, BallotsCountTheLanesThatHold) {
  std::vector<unsigned> votes(64);
  RunBlocks(1, 64, [&] { votes[threadIdx.x] = __ballot_sync(0xffffffffu, threadIdx.x % 3 == 0); });
  unsigned expected[2] = {};
  for (unsigned i = 0; i < 64; i += 3) expected[i / 32] |= 1u << i % 32;
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(votes[i], expected[i / 32]);
}

TEST(Warp, ALaneThatIsMissingIsAnError) {
  const std::string message = MessageOf(32, [] {
    if (threadIdx.x < 16) __shfl_down_sync(0xffffffffu, 1, 1);
  });
  EXPECT_NE(message.find("not all threads reach the warp's exchange"), std::string::npos)
      << message;
}

TEST(Warp, AskingALaneThatTakesNoPartIsAnError) {
  EXPECT_THROW(RunBlocks(1, 32,
                         [] {
                           if (threadIdx.x < 16) __shfl_sync(0xffffu, 1, 20);
                         }),
               InternalError);
}

TEST(Block, DynamicSharedMemoryBeginsAsNaN) {
  int numbers = 0;
  RunBlocks(
      2, 32,
      [&] {
        float* values = static_cast<float*>(DynamicSharedMemory());
        numbers += !std::isnan(values[threadIdx.x]);
        __syncthreads();
        values[threadIdx.x] = 1;
      },
      32 * sizeof(float));
  EXPECT_EQ(numbers, 0);
}

// In groups of neighbouring blocks, of which the last may be smaller.
struct ArrivingBlocks {
  explicit ArrivingBlocks(uint32_t blocks, uint32_t of_group)
      : blocks(blocks), of_group(of_group), counters(blocks), written(blocks), sums(blocks) {}

  uint32_t CountOf(uint32_t group) const { return std::min(of_group, blocks - group * of_group); }
  // What the last block of each group finds.
  void RunThread() {
    const uint32_t block = blockIdx.x, group = block / of_group;
    if (threadIdx.x == 63) written[block] = block + 1;
    if (!ArrivesLast(&counters[group], CountOf(group))) return;
    if (threadIdx.x != 0) return;
    for (uint32_t i = 0; i < CountOf(group); ++i) sums[group] += written[group * of_group + i];
  }
  void ExpectSums() const {
    for (uint32_t group = 0; group * of_group < blocks; ++group) {
      uint32_t want = 0;
      for (uint32_t i = 0; i < CountOf(group); ++i) want += group * of_group + i + 1;
      EXPECT_EQ(sums[group], want) << "group " << group << " of " << of_group;
    }
    EXPECT_EQ(counters, std::vector<uint32_t>(blocks));
  }

  uint32_t blocks, of_group;
  std::vector<uint32_t> counters, written, sums;
};

TEST(Arrivals, TheLastBlockOfAGroupSeesWhatAllHaveWritten) {
  for (const uint32_t of_group : {1u, 3u, 10u})
    for (int launch = 0; launch < 2; ++launch) {
      ArrivingBlocks blocks(10, of_group);
      RunBlocks(10, 64, [&] { blocks.RunThread(); });
      blocks.ExpectSums();
    }
}

// As a kernel that fails, in whichever order its blocks run.
TEST(Arrivals, AnErrorLeavesTheCountersZero) {
  for (int launch = 0; launch < 2; ++launch) {
    ArrivingBlocks blocks(10, 5);
    EXPECT_THROW(RunBlocks(10, 64,
                           [&] {
                             TORUS_CHECK(blockIdx.x != 2 && blockIdx.x != 7, "fails");
                             blocks.RunThread();
                           }),
                 InternalError);
    EXPECT_EQ(blocks.counters, std::vector<uint32_t>(10)) << "launch " << launch;
    std::fill(blocks.sums.begin(), blocks.sums.end(), 0u);
    RunBlocks(10, 64, [&] { blocks.RunThread(); });
    blocks.ExpectSums();
  }
}

TEST(Arrivals, AGroupThatIsNotCompleteIsAnError) {
  uint32_t counter = 0;
  const std::string message = MessageOf(32, [&] { ArrivesLast(&counter, 2); });
  EXPECT_EQ(message, "[kernel] of 2 blocks that a group is to have 1 have arrived");
  EXPECT_EQ(counter, 0u);
}

TEST(Arrivals, SoIsACounterThatWasNotZero) {
  uint32_t counter = 0xffffffff;
  EXPECT_NE(MessageOf(32, [&] { ArrivesLast(&counter, 2); }).find("holds 4294967295"),
            std::string::npos);
}

TEST(Arrivals, AGroupHasOneNumberOfBlocks) {
  uint32_t counter = 0;
  EXPECT_THROW(RunBlocks(2, 32, [&] { ArrivesLast(&counter, 2 + blockIdx.x); }), InternalError);
}

struct ArrivalNotes : public ThreadWatch {
  void OnEnter(int) override { inside = true; }
  void OnLeave(int) override { inside = false; }
  void OnArrival(int thread, uint32_t blocks) override {
    EXPECT_FALSE(inside);
    EXPECT_EQ(blocks, 7u);
    threads.push_back(thread);
  }
  bool inside = false;
  std::vector<int> threads;
};

TEST(Arrivals, ABlockThatRunsAloneIsTheLast) {
  uint32_t counter = 3;
  int last = 0;
  ArrivalNotes notes;
  RunBlock(
      "kernel", {9, 40}, 4, [&] { last += ArrivesLast(&counter, 7); }, &notes);
  EXPECT_EQ(last, 40);
  EXPECT_EQ(counter, 3u);
  EXPECT_EQ(notes.threads.size(), 40u);
  EXPECT_TRUE(std::ranges::is_sorted(notes.threads));
}

}  // namespace
}  // namespace torus::emulated_gpu
