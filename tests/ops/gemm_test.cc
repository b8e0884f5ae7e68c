// The float GEMM against the double one, over odd sizes, transposes, strides and factors.
#include "ops/cpu/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "runtime/dry_run.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

struct Case {
  int64_t m, n, k, lda, ldb, ldc;
  Transpose ta, tb;
  double alpha, beta;
};

Case Draw(std::mt19937& rng) {
  auto size = [&](int most) { return std::uniform_int_distribution<int64_t>(0, most)(rng); };
  Case c{};
  c.m = size(40), c.n = size(40), c.k = size(90);
  c.ta = size(1) ? Transpose::kYes : Transpose::kNo,
  c.tb = size(1) ? Transpose::kYes : Transpose::kNo;
  c.lda = std::max<int64_t>(1, (c.ta == Transpose::kYes ? c.m : c.k) + size(3));
  c.ldb = std::max<int64_t>(1, (c.tb == Transpose::kYes ? c.k : c.n) + size(3));
  c.ldc = std::max<int64_t>(1, c.n + size(3));
  c.alpha = size(1) ? 1 : -0.5, c.beta = static_cast<double>(size(2)) / 2;
  return c;
}

void Compare(const Case& c, std::mt19937& rng) {
  std::normal_distribution<float> normal;
  auto random = [&](int64_t count) {
    std::vector<float> v(count);
    for (float& x : v) x = normal(rng);
    return v;
  };
  const auto a = random((c.ta == Transpose::kYes ? c.k : c.m) * c.lda + 1);
  const auto b = random((c.tb == Transpose::kYes ? c.n : c.k) * c.ldb + 1);
  auto fast = random(c.m * c.ldc + 1);
  std::vector<double> exact(fast.begin(), fast.end());
  const std::vector<double> da(a.begin(), a.end()), db(b.begin(), b.end());
  Gemm(c.ta, c.tb, c.m, c.n, c.k, static_cast<float>(c.alpha), a.data(), c.lda, b.data(), c.ldb,
       static_cast<float>(c.beta), fast.data(), c.ldc);
  Gemm(c.ta, c.tb, c.m, c.n, c.k, c.alpha, da.data(), c.lda, db.data(), c.ldb, c.beta, exact.data(),
       c.ldc);
  // Each of k + 2 roundings is at most eps of a partial sum; sums of k unit normals stay below 5
  // sqrt(k) + 5.
  const double k = static_cast<double>(c.k);
  const double tolerance = std::numeric_limits<float>::epsilon() * (k + 2) * (5 * std::sqrt(k) + 5);
  for (size_t i = 0; i < fast.size(); ++i)
    ASSERT_NEAR(fast[i], exact[i], tolerance) << "element " << i;
}

TEST(Gemm, FastAgreesWithPlain) {
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    const Case c = Draw(rng);
    SCOPED_TRACE(testing::Message() << c.m << " x " << c.n << " x " << c.k);
    Compare(c, rng);
  }
}

// In a thread that has not said how many it wants, and in one that has.
TEST(Gemm, FastAgreesWithPlainOnTeams) {
  const Case c{.m = 400, .n = 300, .k = 200, .lda = 200, .ldb = 300, .ldc = 300, .alpha = 1};
  std::thread([&] {
    std::mt19937 rng(2);
    Compare(c, rng);
    SetTeamSize(3);
    Compare(c, rng);
  }).join();
}

// A region's settings end with it.
TEST(Gemm, FastAgreesWithPlainAfterAForeignRegion) {
  const Case c{.m = 400, .n = 300, .k = 200, .lda = 200, .ldb = 300, .ldc = 300, .alpha = 1};
  std::thread([&] {
    std::mt19937 rng(3);
#pragma omp parallel num_threads(2)
    SetTeamSize(2);
    Compare(c, rng);
  }).join();
}

TEST(Gemm, BetaZeroNeverReads) {
  const float a = 2, b = 3;
  float c = std::numeric_limits<float>::quiet_NaN();
  Gemm(Transpose::kNo, Transpose::kNo, 1, 1, 1, 1.0f, &a, 1, &b, 1, 0.0f, &c, 1);
  EXPECT_EQ(c, 6);
  c = std::numeric_limits<float>::quiet_NaN();
  Gemm(Transpose::kNo, Transpose::kNo, 1, 1, 0, 1.0f, &a, 1, &b, 1, 0.0f, &c, 1);
  EXPECT_EQ(c, 0);
}

template <class T>
T TwoTimesThreeOnto(T c, T beta) {
  const T a = 2, b = 3;
  Gemm(Transpose::kNo, Transpose::kNo, 1, 1, 1, T(1), &a, 1, &b, 1, beta, &c, 1);
  return c;
}

TEST(Gemm, SumsOverNothingInADryRun) {
  {
    const DryRun dry_run;
    EXPECT_EQ(TwoTimesThreeOnto<float>(5, 1), 5);
    EXPECT_EQ(TwoTimesThreeOnto<double>(5, 1), 5);
    EXPECT_EQ(TwoTimesThreeOnto<float>(std::numeric_limits<float>::quiet_NaN(), 0), 0);
    EXPECT_EQ(TwoTimesThreeOnto<double>(std::numeric_limits<double>::quiet_NaN(), 0), 0);
    std::thread([] { EXPECT_EQ(TwoTimesThreeOnto<float>(5, 1), 11); }).join();
  }
  EXPECT_EQ(TwoTimesThreeOnto<float>(5, 1), 11);
  EXPECT_EQ(TwoTimesThreeOnto<double>(5, 1), 11);
}

TEST(Gemm, ManyRanksAtOnceGetTheBitsOfOne) {
  const int64_t n = 64;
  std::vector<float> a(n * n), b(n * n);
  std::mt19937 rng(2);
  std::normal_distribution<float> normal;
  for (float& x : a) x = normal(rng);
  for (float& x : b) x = normal(rng);
  std::vector<std::vector<float>> results(5, std::vector<float>(n * n));
  auto work = [&](int i) {
    SetTeamSize(1);
    for (int repeat = 0; repeat < 50; ++repeat)
      Gemm(Transpose::kNo, Transpose::kYes, n, n, n, 1.0f, a.data(), n, b.data(), n, 0.0f,
           results[i].data(), n);
  };
  std::vector<std::thread> ranks;
  for (int i = 0; i < 5; ++i) ranks.emplace_back(work, i);
  for (auto& rank : ranks) rank.join();
  for (int i = 1; i < 5; ++i) EXPECT_EQ(results[i], results[0]);
}

}  // namespace
}  // namespace torus::cpu
