// Both GEMMs against the definition, over odd sizes, transposes, strides and factors.
#include "ops/cpu/gemm.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/parallel_for.h"
#include "tests/testing/tolerance.h"

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

std::vector<double> Random(int64_t count, std::mt19937& rng) {
  std::normal_distribution<float> normal;  // f32 holds the values exactly
  std::vector<double> values(count);
  for (double& x : values) x = normal(rng);
  return values;
}

// The product as its definition says, onto `c`. Returns the largest partial sum.
double Define(const Case& p, const std::vector<double>& a, const std::vector<double>& b,
              std::vector<double>& c) {
  double largest = 0;
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j) {
      double& sum = c[i * p.ldc + j];
      sum *= p.beta;
      for (int64_t l = 0; l < p.k; ++l) {
        const double left = p.ta == Transpose::kYes ? a[l * p.lda + i] : a[i * p.lda + l];
        const double right = p.tb == Transpose::kYes ? b[j * p.ldb + l] : b[l * p.ldb + j];
        sum += p.alpha * left * right;
        largest = std::max(largest, std::abs(sum));
      }
    }
  return largest;
}

// In T against the definition in f64; what lies between the rows of C is not touched.
template <class T>
void Compare(const Case& p, std::mt19937& rng) {
  const auto a = Random((p.ta == Transpose::kYes ? p.k : p.m) * p.lda + 1, rng);
  const auto b = Random((p.tb == Transpose::kYes ? p.n : p.k) * p.ldb + 1, rng);
  auto exact = Random(p.m * p.ldc + 1, rng);
  const std::vector<T> left(a.begin(), a.end()), right(b.begin(), b.end());
  std::vector<T> fast(exact.begin(), exact.end());
  Gemm(p.ta, p.tb, p.m, p.n, p.k, static_cast<T>(p.alpha), left.data(), p.lda, right.data(), p.ldb,
       static_cast<T>(p.beta), fast.data(), p.ldc);
  const double largest = Define(p, a, b, exact);
  // Of k terms and C's, whose factors alpha and beta are powers of two.
  const double tolerance = testing::Tolerance(kDTypeOf<T>, p.k + 1, largest);
  for (size_t i = 0; i < fast.size(); ++i)
    ASSERT_NEAR(fast[i], exact[i], tolerance) << "element " << i;
}

TEST(Gemm, FollowsItsDefinition) {
  std::mt19937 rng(1);
  for (int i = 0; i < 200; ++i) {
    const Case c = Draw(rng);
    SCOPED_TRACE(::testing::Message() << c.m << " x " << c.n << " x " << c.k);
    Compare<float>(c, rng);
    Compare<double>(c, rng);
  }
}

// Whose kernel is one of ours.
TEST(Gemm, FollowsItsDefinitionForOneRowByATransposedMatrix) {
  std::mt19937 rng(5);
  for (const int64_t n : {1, 3, 4, 5, 37}) {
    for (const int64_t k : {1, 7, 64, 201}) {
      SCOPED_TRACE(::testing::Message() << n << " x " << k);
      Case c{.m = 1, .n = n, .k = k, .lda = k, .ldb = k + 3, .ldc = n, .tb = Transpose::kYes};
      c.alpha = 1;
      for (const double beta : {0.0, 0.5, 1.0}) {
        c.beta = beta;
        Compare<float>(c, rng);
      }
    }
  }
}

// In a thread that has not said how many it wants, and in one that has.
TEST(Gemm, FollowsItsDefinitionOnTeams) {
  const Case c{.m = 400, .n = 300, .k = 200, .lda = 200, .ldb = 300, .ldc = 300, .alpha = 1};
  std::thread([&] {
    std::mt19937 rng(2);
    Compare<float>(c, rng);
    SetTeamSize(3);
    Compare<float>(c, rng);
  }).join();
}

// A region's settings end with it.
TEST(Gemm, FollowsItsDefinitionAfterAForeignRegion) {
  const Case c{.m = 400, .n = 300, .k = 200, .lda = 200, .ldb = 300, .ldc = 300, .alpha = 1};
  std::thread([&] {
    std::mt19937 rng(3);
#pragma omp parallel num_threads(2)
    SetTeamSize(2);
    Compare<float>(c, rng);
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

TEST(Gemm, DoubleHasTheSameBitsOnEveryTeam) {
  const int64_t m = 150, n = 33, k = 500;
  std::mt19937 rng(4);
  const auto a = Random(m * k, rng), b = Random(k * n, rng);
  const auto product = [&](int team) {
    SetTeamSize(team);
    std::vector<double> c(m * n);
    Gemm(Transpose::kNo, Transpose::kNo, m, n, k, 1.0, a.data(), k, b.data(), n, 0.0, c.data(), n);
    return c;
  };
  std::thread([&] {
    const auto one = product(1);
    for (int team : {2, 3, 5}) EXPECT_EQ(product(team), one) << team;
  }).join();
}

TEST(Gemm, OneRowByATransposedMatrixHasTheSameBitsOnEveryTeam) {
  const int64_t n = 1001, k = 500;
  std::mt19937 rng(6);
  const auto values = Random(n * k, rng);
  const std::vector<float> b(values.begin(), values.end());
  const auto product = [&](int team) {
    SetTeamSize(team);
    std::vector<float> c(n);
    Gemm(Transpose::kNo, Transpose::kYes, 1, n, k, 1.0f, b.data(), k, b.data(), k, 0.0f, c.data(),
         n);
    return c;
  };
  std::thread([&] {
    const auto one = product(1);
    for (int team : {2, 3, 5}) EXPECT_EQ(product(team), one) << team;
  }).join();
}

// While one lives, the process has pieces of less than 64 KB to give, and no more.
class LittleMemory {
 public:
  LittleMemory() {
    getrlimit(RLIMIT_AS, &before_);
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE));
    setrlimit(RLIMIT_AS, &now);
    while (void* block = std::malloc(1 << 16)) {
      *static_cast<void**>(block) = last_;
      last_ = block;
    }
  }
  ~LittleMemory() {
    setrlimit(RLIMIT_AS, &before_);
    while (last_ != nullptr) std::free(std::exchange(last_, *static_cast<void**>(last_)));
  }

 private:
  void* last_ = nullptr;  // each block holds the address of the one before
  rlimit before_{};
};

TEST(Gemm, LackOfMemoryForPackingIsTheEnvironments) {
#ifdef TORUS_SANITIZER
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
  constexpr int64_t kSize = 2000;
  std::thread([] {
    SetTeamSize(1);
    const std::vector<float> a(kSize * kSize, 1), b(kSize * kSize, 1);
    std::vector<float> c(kSize * kSize);
    const auto product = [&](int64_t size) {
      Gemm(Transpose::kYes, Transpose::kYes, size, size, size, 1.0f, a.data(), kSize, b.data(),
           kSize, 0.0f, c.data(), kSize);
    };
    product(64);  // its code is generated once
    const LittleMemory little;
    EXPECT_THROW(product(kSize), BrokenEnvironment);
  }).join();
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
