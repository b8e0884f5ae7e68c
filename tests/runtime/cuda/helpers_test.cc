// What kernels share, run on emulated GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/cuda/elements.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

struct Visit {
  int* seen;
  __device__ void operator()(int64_t i) const { ++seen[i]; }
};

TEST(ForEach, VisitsEveryIndexOnce) {
  for (int64_t count : {0, 1, 255, 256, 257, 4096 * 256 + 3}) {
    std::vector<int> seen(count, 0);
    ForEach("visit", count, nullptr, Visit{seen.data()});
    emulated_gpu::WaitForStream(nullptr);
    EXPECT_EQ(seen, std::vector<int>(count, 1));
  }
}

TEST(ForEach, GridsOfHugeCountsCanRun) {
  EXPECT_EQ(ForEachBlocks(1), 1u);
  EXPECT_EQ(ForEachBlocks(257), 2u);
  EXPECT_EQ(ForEachBlocks(int64_t{1} << 40), 4096u);
}

// Whole numbers of doubles are added exactly, whatever the order.
struct SumRow {
  int64_t n;
  const double* x;
  double *sum, *most;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    TwoSums<double> sums{0, 0};
    double largest = -INFINITY;
    for (int64_t i = threadIdx.x; i < n; i += kThreads) {
      const double value = x[row * n + i];
      sums = sums + TwoSums<double>{value, 2 * value};
      largest = Larger()(largest, value);
    }
    sums = CombineBlock<kThreads>(sums, Plus());
    largest = CombineBlock<kThreads>(largest, Larger());
    // Every thread has the result: the last one writes it.
    if (threadIdx.x != kThreads - 1) return;
    sum[row] = sums.first + sums.second;
    most[row] = largest;
  }
};

TEST(Rows, EachIsCombinedByItsBlock) {
  for (int64_t n : {1, 31, 256, 257, 1000}) {
    const int64_t rows = 7;
    std::vector<double> x(rows * n), sum(rows), most(rows);
    std::iota(x.begin(), x.end(), -100.0);
    ForEachRow("sum", rows, n, nullptr, SumRow{n, x.data(), sum.data(), most.data()});
    emulated_gpu::WaitForStream(nullptr);
    for (int64_t row = 0; row < rows; ++row) {
      const auto begin = x.begin() + row * n;
      EXPECT_EQ(sum[row], 3 * std::accumulate(begin, begin + n, 0.0)) << n;
      EXPECT_EQ(most[row], *(begin + n - 1)) << n;
    }
  }
}

struct SumUpToEach {
  int64_t n;
  const int64_t* x;
  int64_t *up_to, *all;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const bool inside = threadIdx.x < n;
    const int64_t at = row * n + threadIdx.x;
    int64_t sum_of_all = -1;
    const int64_t sum = SumUpToThread<kThreads>(inside ? x[at] : int64_t{0}, sum_of_all);
    if (!inside) return;
    up_to[at] = sum;
    all[at] = sum_of_all;
  }
};

// Of a warp and of several.
TEST(Rows, EveryThreadLearnsTheSumUpToItself) {
  for (int64_t n : {1, 31, 32, 33, 255, 256}) {
    const int64_t rows = 2;
    std::vector<int64_t> x(rows * n), up_to(rows * n), all(rows * n);
    std::iota(x.begin(), x.end(), -3);
    for (const bool warp : {true, false}) {
      if (warp && n > 32) continue;
      const SumUpToEach body{n, x.data(), up_to.data(), all.data()};
      if (warp)
        ForEachBlock<32>("sums", rows, nullptr, body);
      else
        ForEachBlock<256>("sums", rows, nullptr, body);
      emulated_gpu::WaitForStream(nullptr);
      for (int64_t row = 0; row < rows; ++row) {
        const auto begin = x.begin() + row * n;
        for (int64_t i = 0; i < n; ++i) {
          EXPECT_EQ(up_to[row * n + i], std::accumulate(begin, begin + i + 1, int64_t{0})) << i;
          EXPECT_EQ(all[row * n + i], std::accumulate(begin, begin + n, int64_t{0})) << i;
        }
      }
    }
  }
}

TEST(Elements, AreOfTheirDtypeAndOnAGpu) {
  Tensor here({2}, DType::kF32);
  EXPECT_THROW(Elements<float>(here), InternalError);
  EXPECT_THROW(MutableElements<float>(here), InternalError);
  EXPECT_EQ(ElementsOrNull<float>(Tensor()), nullptr);
}

TEST(Larger, NaNWins) {
  const Larger larger;
  EXPECT_EQ(larger(1.0, 2.0), 2);
  EXPECT_TRUE(std::isnan(larger(double{NAN}, 2.0)));
  EXPECT_TRUE(std::isnan(larger(2.0, double{NAN})));
}

}  // namespace
}  // namespace torus::cuda
