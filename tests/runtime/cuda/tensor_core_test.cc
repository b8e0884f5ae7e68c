// The tensor cores' functions on an emulated GPU: which lane holds which element, and the products.
#include "runtime/cuda/tensor_core.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/element_cast.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "runtime/tensor.h"
//
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// Which lane has a pair of neighbouring elements, and in which of its registers.
struct Holder {
  int lane, word;
};

// A figure of the PTX ISA, "lane.word" for each pair, row by row.
std::vector<Holder> Figure(const std::string& text) {
  std::vector<Holder> holders;
  std::istringstream in(text);
  Holder h;
  for (char dot; in >> h.lane >> dot >> h.word;) holders.push_back(h);
  return holders;
}

// A, 16 rows of 16 columns: pairs along the rows.
const char* const kFigureA =
    "0.0 1.0 2.0 3.0 0.2 1.2 2.2 3.2 "
    "4.0 5.0 6.0 7.0 4.2 5.2 6.2 7.2 "
    "8.0 9.0 10.0 11.0 8.2 9.2 10.2 11.2 "
    "12.0 13.0 14.0 15.0 12.2 13.2 14.2 15.2 "
    "16.0 17.0 18.0 19.0 16.2 17.2 18.2 19.2 "
    "20.0 21.0 22.0 23.0 20.2 21.2 22.2 23.2 "
    "24.0 25.0 26.0 27.0 24.2 25.2 26.2 27.2 "
    "28.0 29.0 30.0 31.0 28.2 29.2 30.2 31.2 "
    "0.1 1.1 2.1 3.1 0.3 1.3 2.3 3.3 "
    "4.1 5.1 6.1 7.1 4.3 5.3 6.3 7.3 "
    "8.1 9.1 10.1 11.1 8.3 9.3 10.3 11.3 "
    "12.1 13.1 14.1 15.1 12.3 13.3 14.3 15.3 "
    "16.1 17.1 18.1 19.1 16.3 17.3 18.3 19.3 "
    "20.1 21.1 22.1 23.1 20.3 21.3 22.3 23.3 "
    "24.1 25.1 26.1 27.1 24.3 25.3 26.3 27.3 "
    "28.1 29.1 30.1 31.1 28.3 29.3 30.3 31.3";

// B, 16 rows of 8 columns: pairs along the columns, so these are 8 rows of pairs.
const char* const kFigureB =
    "0.0 4.0 8.0 12.0 16.0 20.0 24.0 28.0 "
    "1.0 5.0 9.0 13.0 17.0 21.0 25.0 29.0 "
    "2.0 6.0 10.0 14.0 18.0 22.0 26.0 30.0 "
    "3.0 7.0 11.0 15.0 19.0 23.0 27.0 31.0 "
    "0.1 4.1 8.1 12.1 16.1 20.1 24.1 28.1 "
    "1.1 5.1 9.1 13.1 17.1 21.1 25.1 29.1 "
    "2.1 6.1 10.1 14.1 18.1 22.1 26.1 30.1 "
    "3.1 7.1 11.1 15.1 19.1 23.1 27.1 31.1";

// C, 16 rows of 8 columns: pairs along the rows.
const char* const kFigureC =
    "0.0 1.0 2.0 3.0 "
    "4.0 5.0 6.0 7.0 "
    "8.0 9.0 10.0 11.0 "
    "12.0 13.0 14.0 15.0 "
    "16.0 17.0 18.0 19.0 "
    "20.0 21.0 22.0 23.0 "
    "24.0 25.0 26.0 27.0 "
    "28.0 29.0 30.0 31.0 "
    "0.1 1.1 2.1 3.1 "
    "4.1 5.1 6.1 7.1 "
    "8.1 9.1 10.1 11.1 "
    "12.1 13.1 14.1 15.1 "
    "16.1 17.1 18.1 19.1 "
    "20.1 21.1 22.1 23.1 "
    "24.1 25.1 26.1 27.1 "
    "28.1 29.1 30.1 31.1";

// An 8 x 8 matrix that ldmatrix loads: pairs along the rows.
const char* const kFigureMatrix =
    "0.0 1.0 2.0 3.0 "
    "4.0 5.0 6.0 7.0 "
    "8.0 9.0 10.0 11.0 "
    "12.0 13.0 14.0 15.0 "
    "16.0 17.0 18.0 19.0 "
    "20.0 21.0 22.0 23.0 "
    "24.0 25.0 26.0 27.0 "
    "28.0 29.0 30.0 31.0";

constexpr int kWarps = 2;

template <class T>
struct Multiply {
  const FragmentA* a;  // of each thread
  const FragmentB* b;
  FragmentC* c;
  template <int kThreads>
  __device__ void Run(int64_t) const {
    AddProduct<T>(a[threadIdx.x], b[threadIdx.x], c[threadIdx.x]);
  }
};

template <class T>
uint32_t Word(float first, float second) {
  const ElementCast<T, float> to;
  return to(first).bits | uint32_t{to(second).bits} << 16;
}

// Values that both types hold exactly.
std::vector<float> Values(int64_t count, uint64_t seed) {
  Tensor values({count}, DType::kF32);
  FillUniform(values, -8, 8, RandomStream({seed}));
  std::vector<float> rounded = ToVector<float>(values);
  for (float& value : rounded) value = std::round(4 * value) / 4;
  return rounded;
}

template <class T>
class TensorCore : public ::testing::Test {};
using LowTypes = ::testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(TensorCore, LowTypes);

TYPED_TEST(TensorCore, MultipliesWhatTheFiguresSay) {
  const auto of_a = Figure(kFigureA), of_b = Figure(kFigureB), of_c = Figure(kFigureC);
  ASSERT_EQ(of_a.size(), 128u);
  ASSERT_EQ(of_b.size(), 64u);
  ASSERT_EQ(of_c.size(), 64u);
  FragmentA a[32 * kWarps];
  FragmentB b[32 * kWarps];
  FragmentC c[32 * kWarps];
  std::vector<std::vector<float>> left, right, before;
  for (int w = 0; w < kWarps; ++w) {
    left.push_back(Values(256, w));
    right.push_back(Values(128, w + 7));
    before.push_back(Values(128, w + 9));
    for (int i = 0; i < 128; ++i)
      a[32 * w + of_a[i].lane].word[of_a[i].word] =
          Word<TypeParam>(left[w][2 * i], left[w][2 * i + 1]);
    for (int i = 0; i < 64; ++i) {
      const int at = i / 8 * 16 + i % 8;  // rows 2 (i / 8) and the next one, column i % 8
      b[32 * w + of_b[i].lane].word[of_b[i].word] = Word<TypeParam>(right[w][at], right[w][at + 8]);
      for (int k = 0; k < 2; ++k)
        c[32 * w + of_c[i].lane].at[2 * of_c[i].word + k] = before[w][2 * i + k];
    }
  }
  ForEachBlock<32 * kWarps>("multiply", 1, nullptr, Multiply<TypeParam>{a, b, c});
  emulated_gpu::WaitForStream(nullptr);
  for (int w = 0; w < kWarps; ++w)
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        float sum = before[w][row * 8 + column];
        for (int k = 0; k < 16; ++k) sum += left[w][row * 16 + k] * right[w][k * 8 + column];
        const Holder h = of_c[row * 4 + column / 2];
        // Multiples of 1/16 below 2^12: sums of them are exact in any order.
        EXPECT_EQ(c[32 * w + h.lane].at[2 * h.word + column % 2], sum) << row << " " << column;
      }
}

struct Loaded {
  uint32_t plain[4], transposed[4];
};

struct Load {
  const uint16_t* from;  // four matrices a warp, row by row
  Loaded* to;            // of each thread
  template <int kThreads>
  __device__ void Run(int64_t) const {
    alignas(16) __shared__ uint16_t rows[kThreads * 8];
    for (int i = 0; i < 8; ++i) rows[8 * threadIdx.x + i] = from[8 * threadIdx.x + i];
    __syncthreads();
    LoadMatrices(rows + 8 * threadIdx.x, to[threadIdx.x].plain);
    LoadTransposedMatrices(rows + 8 * threadIdx.x, to[threadIdx.x].transposed);
  }
};

TEST(TensorCoreLoads, GiveWhatTheFigureSays) {
  const auto of = Figure(kFigureMatrix);
  ASSERT_EQ(of.size(), 32u);
  std::vector<uint16_t> values(kWarps * 4 * 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
  Loaded loaded[32 * kWarps];
  ForEachBlock<32 * kWarps>("load", 1, nullptr, Load{values.data(), loaded});
  emulated_gpu::WaitForStream(nullptr);
  for (int m = 0; m < 4 * kWarps; ++m)
    for (int i = 0; i < 32; ++i) {
      const uint16_t* const matrix = values.data() + 64 * m;
      const int row = i / 4, column = i % 4 * 2;
      const Loaded& of_lane = loaded[m / 4 * 32 + of[i].lane];
      EXPECT_EQ(of_lane.plain[m % 4],
                matrix[row * 8 + column] | uint32_t{matrix[row * 8 + column + 1]} << 16);
      EXPECT_EQ(of_lane.transposed[m % 4],
                matrix[column * 8 + row] | uint32_t{matrix[column * 8 + 8 + row]} << 16);
    }
}

struct LoadUnaligned {
  template <int kThreads>
  __device__ void Run(int64_t) const {
    alignas(16) __shared__ uint16_t rows[kThreads * 8 + 8];
    uint32_t word[4];
    LoadMatrices(rows + 8 * threadIdx.x + 1, word);
  }
};

TEST(TensorCoreLoads, RefuseRowsThatAreNotAligned) {
  ForEachBlock<32>("load", 1, nullptr, LoadUnaligned{});
  EXPECT_THROW(emulated_gpu::WaitForStream(nullptr), InternalError);
}

}  // namespace
}  // namespace torus::cuda
