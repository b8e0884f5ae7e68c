// What kernels share, run on emulated GPUs.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/emulated_gpu/queues.h"
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

TEST(Larger, NaNWins) {
  const Larger larger;
  EXPECT_EQ(larger(1.0, 2.0), 2);
  EXPECT_TRUE(std::isnan(larger(double{NAN}, 2.0)));
  EXPECT_TRUE(std::isnan(larger(2.0, double{NAN})));
}

}  // namespace
}  // namespace torus::cuda
