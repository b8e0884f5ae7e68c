// Sums in trees, run on emulated GPUs. Needs a build with --config=emulated_gpu.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/rng.h"
#include "runtime/stream.h"
#include "tests/testing/tolerance.h"
//
#include "runtime/cuda/column_sums.h"
#include "runtime/on_device.h"

namespace torus::cuda {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

Tensor Samples(const Shape& shape) {
  Tensor values(shape, DType::kF32);
  FillUniform(values, -1, 1, RandomStream({5}));
  return values;
}

Tensor SumOnGpu(const Tensor& x, double divisor) {
  const Tensor there = x.To(kGpu);
  Tensor sums({x.dim(0), x.dim(2)}, DType::kF32, kGpu);
  SumColumns("sum", x.dim(0), x.dim(1), x.dim(2), LoadFrom<float>{Elements<float>(there)}, divisor,
             MutableElements<float>(sums), kGpu, CurrentStream(kGpu));
  return sums.To(Device{});
}

void ExpectSums(const Tensor& x, double divisor) {
  const Tensor got = SumOnGpu(x, divisor);
  const int64_t count = x.dim(1), inner = x.dim(2);
  for (int64_t i = 0; i < got.numel(); ++i) {
    double sum = 0;
    for (int64_t c = 0; c < count; ++c)
      sum += x.data<float>()[(i / inner * count + c) * inner + i % inner];
    // Partial sums of terms of random sign are as large as the root of their number.
    const double bound =
        testing::Tolerance(DType::kF32, count, std::sqrt(static_cast<double>(count)));
    EXPECT_NEAR(got.data<float>()[i], sum / divisor, bound / divisor) << x.Describe() << " " << i;
  }
}

TEST(ColumnSums, AgreeWithSumsInDouble) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  for (const Shape& shape :
       {Shape{1, 1, 1}, Shape{3, 64, 5}, Shape{2, 65, 3}, Shape{1, 5000, 3}, Shape{4, 31, 1},
        Shape{2, 4096, 1}, Shape{2, 4097, 1}, Shape{1, 50000, 1}, Shape{2, 0, 3}, Shape{0, 3, 2},
        Shape{2, 1000, 33}, Shape{3, 300, 9}, Shape{70, 65, 300}})
    for (double divisor : {1.0, 3.0}) ExpectSums(Samples(shape), divisor);
}

// Threads and blocks go in the opposite direction every second time.
TEST(ColumnSums, HaveTheSameBitsInEveryRun) {
  if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
  for (const Shape& shape : {Shape{1, 5000, 3}, Shape{1, 50000, 1}, Shape{2, 1000, 33}}) {
    const Tensor x = Samples(shape);
    const auto first = ToVector<float>(SumOnGpu(x, 1));
    for (int run = 0; run < 3; ++run) EXPECT_EQ(ToVector<float>(SumOnGpu(x, 1)), first);
  }
}

TEST(ColumnSums, PartsCoverAHugeCount) {
  EXPECT_EQ(SumParts(0, 64), 1);
  EXPECT_EQ(SumParts(64, 64), 1);
  EXPECT_EQ(SumParts(65, 64), 2);
  EXPECT_EQ(SumParts((int64_t{1} << 40) + 1, 4096), (int64_t{1} << 28) + 1);
}

}  // namespace
}  // namespace torus::cuda
