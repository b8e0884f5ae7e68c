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
#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/part_sums.h"
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

// The first threads write the sums of all threads with the same rest.
template <int columns>
struct SumColumnsOfBlocks {
  const double* x;
  double* sums;
  template <int kThreads>
  __device__ void Run(int64_t row) const {
    const double sum = CombineColumns<kThreads, columns>(x[row * kThreads + threadIdx.x], Plus());
    if (threadIdx.x < columns) sums[row * columns + threadIdx.x] = sum;
  }
};

template <int kThreads, int columns>
void ExpectColumnSums() {
  constexpr int64_t kRows = 3;
  std::vector<double> x(kRows * kThreads), sums(kRows * columns), want(sums.size(), 0.0);
  std::iota(x.begin(), x.end(), -100.0);
  for (size_t i = 0; i < x.size(); ++i) want[i / kThreads * columns + i % columns] += x[i];
  ForEachBlock<kThreads>("sum", kRows, nullptr, SumColumnsOfBlocks<columns>{x.data(), sums.data()});
  emulated_gpu::WaitForStream(nullptr);
  EXPECT_EQ(sums, want) << kThreads << " threads, " << columns << " columns";
}

TEST(Rows, ColumnsAreCombinedByTheirBlock) {
  ExpectColumnSums<32, 1>();
  ExpectColumnSums<32, 8>();
  ExpectColumnSums<256, 1>();
  ExpectColumnSums<256, 8>();
  ExpectColumnSums<256, 32>();
}

struct StoreBackwards {
  int64_t columns;
  double* out;
  __device__ void operator()(int64_t column, double sum) const { out[columns - 1 - column] = sum; }
};

TEST(PartSums, AreOfAllPartsOfEachColumn) {
  for (int64_t parts : {1, 7, 8, 100})
    for (int64_t columns : {1, 31, 32, 100}) {
      std::vector<double> x(parts * columns), sums(columns), want(columns, 0.0);
      std::iota(x.begin(), x.end(), -100.0);
      for (size_t i = 0; i < x.size(); ++i) want[columns - 1 - i % columns] += x[i];
      SumOfParts("sum", parts, columns, x.data(), StoreBackwards{columns, sums.data()}, nullptr);
      emulated_gpu::WaitForStream(nullptr);
      EXPECT_EQ(sums, want) << parts << " parts, " << columns << " columns";
    }
}

template <class T, int n>
struct ThereAndBack {
  const T* in;
  T* out;
  SumOf<T>* wide;
  __device__ void operator()(int64_t i) const {
    const Wide<SumOf<T>, n> values = ReadWide<n>(in + i * n);
    for (int k = 0; k < n; ++k) wide[i * n + k] = values.at[k];
    WriteRounded(values, out + i * n);
  }
};

// All bit patterns but NaNs, which a GPU's instructions make one.
template <class T, int n>
void ExpectExactThereAndBack() {
  std::vector<T> in, out;
  std::vector<SumOf<T>> wide;
  for (uint32_t bits = 0; bits < 1 << 16; ++bits) {
    T value;
    value.bits = static_cast<uint16_t>(bits);
    in.push_back(std::isnan(ElementCast<float, T>()(value)) ? T{} : value);
  }
  out.resize(in.size());
  wide.resize(in.size());
  ForEach("cast", std::ssize(in) / n, nullptr,
          ThereAndBack<T, n>{in.data(), out.data(), wide.data()});
  emulated_gpu::WaitForStream(nullptr);
  for (size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i].bits, in[i].bits);
    ASSERT_EQ(wide[i], (ElementCast<float, T>()(in[i])));
  }
}

TEST(Packs, AreWidenedAndRoundedElementByElement) {
  ExpectExactThereAndBack<BFloat16, 1>();
  ExpectExactThereAndBack<BFloat16, 4>();
  ExpectExactThereAndBack<Float16, 2>();
  ExpectExactThereAndBack<Float16, 8>();
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
