// Sums over rows in parts: as many as there are threads, and the same for every team of up to 16.
#include "ops/cpu/sum_parts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/batch_norm/cpu/channel_sums.h"
#include "ops/convolution/convolution.h"
#include "ops/convolution/cpu/depthwise.h"
#include "ops/cpu/bias.h"
#include "runtime/rng.h"
#include "runtime/team_size_guard.h"
#include "tests/testing/tolerance.h"

namespace torus {
namespace {

constexpr int kMany = 40;

TEST(SumParts, LargeTeamsGetAPartForEachThread) {
  for (const int team : {1, 2, 16, kMany}) {
    const TeamSizeGuard guard(team);
    const int64_t most = std::max(16, TeamSize());
    EXPECT_EQ(cpu::PartsOf(1 << 20), most);
    EXPECT_EQ(cpu::DepthwiseParts(1 << 14, 64), most);
    EXPECT_EQ(cpu::SumParts(1 << 20), most);
    // Few rows are not cut further.
    EXPECT_EQ(cpu::PartsOf(255), 1);
    EXPECT_EQ(cpu::PartsOf(256), 4);
    EXPECT_EQ(cpu::PartsOf(4096), 16);
    EXPECT_EQ(cpu::DepthwiseParts(3, 64), 3);
    EXPECT_EQ(cpu::SumParts(0), 1);
  }
}

Variable Leaf(const Shape& shape, uint64_t seed) {
  Tensor values = Empty(shape);
  FillNormal(values, 0, 1, RandomStream({.seed = seed}));
  return Variable(values, true);
}

// Gradients of a norm, a depthwise convolution and a bias over some 20,000 rows.
std::vector<std::vector<float>> Gradients(int team) {
  const TeamSizeGuard guard(team);
  const Variable x = Leaf({5, 64, 64, 3}, 1), weight = Leaf({3}, 2), bias = Leaf({3}, 3);
  const Variable filter = Leaf({3, 3, 3, 1}, 4);
  const Variable y = ops::Conv2d(ops::BatchNormTrain(x, weight, bias).y, filter, {},
                                 {.padding = {1, 1}, .groups = 3});
  Backward({y}, {Leaf(y.shape(), 5).data()});
  std::vector<float> sums(3);
  cpu::SumRows(x.data().data<float>(), 5 * 64 * 64, 3, sums.data());
  return {ToVector<float>(x.grad()), ToVector<float>(weight.grad()), ToVector<float>(bias.grad()),
          ToVector<float>(filter.grad()), sums};
}

TEST(SumParts, OfManyThreadsGiveTheSameSums) {
  const auto usual = Gradients(2), many = Gradients(kMany);
  EXPECT_EQ(usual, Gradients(16));
  EXPECT_EQ(many, Gradients(kMany));
  for (size_t i = 0; i < usual.size(); ++i)
    for (size_t j = 0; j < usual[i].size(); ++j)
      // Sums of blocks of at most 256 terms in f32, merged in f64.
      ASSERT_NEAR(many[i][j], usual[i][j],
                  testing::Tolerance(DType::kF32, 256, 200 + std::abs(usual[i][j])))
          << i << " " << j;
}

}  // namespace
}  // namespace torus
