// Copies to shared memory that run beside a thread, on an emulated GPU.
#include <gtest/gtest.h>

#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
//
#include "runtime/cuda/async_copy.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// Before its thread waits, a copy may be done or not: emulated, every second one is. What is not
// there is zeros.
struct CopyRows {
  const uint32_t* from;
  uint32_t *early, *late;
  template <int kThreads>
  __device__ void Run(int64_t) const {
    alignas(32) __shared__ uint32_t rows[kThreads][4];
    const int there = threadIdx.x, next = (threadIdx.x + 1) % kThreads;
    for (uint32_t& word : rows[there]) word = 77;
    CopyAsync16(rows[there], from + 4 * there, there % 3 != 0);
    __syncthreads();
    for (int i = 0; i < 4; ++i) early[4 * there + i] = rows[next][i];
    __syncthreads();
    WaitForCopies();
    __syncthreads();
    for (int i = 0; i < 4; ++i) late[4 * there + i] = rows[next][i];
    __syncthreads();
  }
};

TEST(AsyncCopy, ShowsAtTheLatestAfterAWaitAndABarrier) {
  constexpr int kThreads = 64;
  alignas(16) uint32_t from[4 * kThreads], early[4 * kThreads], late[4 * kThreads];
  for (uint32_t i = 0; i < 4 * kThreads; ++i) from[i] = 1000 + i;
  ForEachBlock<kThreads>("copy", 1, nullptr, CopyRows{from, early, late});
  emulated_gpu::WaitForStream(nullptr);
  for (uint32_t i = 0; i < 4 * kThreads; ++i) {
    const uint32_t at = (i + 4) % (4 * kThreads), row = at / 4;
    const uint32_t copied = row % 3 == 0 ? 0 : from[at];
    EXPECT_EQ(early[i], row % 2 == 0 ? copied : 77u) << i;
    EXPECT_EQ(late[i], copied) << i;
  }
}

// Ends without a wait for its copy.
struct CopyAndLeave {
  const uint32_t* from;
  template <int kThreads>
  __device__ void Run(int64_t) const {
    alignas(32) __shared__ uint32_t rows[kThreads][4];
    CopyAsync16(rows[threadIdx.x], from + 4 * threadIdx.x, true);
  }
};

TEST(AsyncCopy, IsWaitedForByItsThread) {
  alignas(16) uint32_t from[4 * 32] = {};
  ForEachBlock<32>("copy", 1, nullptr, CopyAndLeave{from});
  EXPECT_THROW(emulated_gpu::WaitForStream(nullptr), InternalError);
}

}  // namespace
}  // namespace torus::cuda
