// The vectorised functions against f64, in units of the last place of the exact result, at every
// vector width; and where they end.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "ops/activation/activation.h"
#include "ops/elementwise/math.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kHuge = std::numeric_limits<float>::max();

using Function = Variable (*)(const Variable&);

// Distance in ulp of `want`; 0 where both overflow alike.
double UlpError(float got, double want) {
  if (static_cast<double>(got) == want || static_cast<float>(want) == got) return 0;
  const int exponent = std::max(-126, std::ilogb(want));
  return std::abs(got - want) / std::ldexp(1.0, exponent - 23);
}

// Evenly spaced values, a power of two of them off the grid of any vector width.
std::vector<float> Sweep(double low, double high, int count) {
  std::vector<float> x;
  for (int i = 0; i < count; ++i)
    x.push_back(static_cast<float>(low + (high - low) * i / (count - 1)));
  return x;
}

template <class Exact>
void ExpectWithin(double ulp, Function f, const Exact& exact, const std::vector<float>& x) {
  testing::ForEachVectorWidth([&] {
    const std::vector<float> y =
        ToVector<float>(f(Variable(FromVector(x, {std::ssize(x)}))).data());
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (const double error = UlpError(y[i], exact(static_cast<double>(x[i]))); error > worst)
        worst = error, at = x[i];
    EXPECT_LE(worst, ulp) << "at " << at;
  });
}

float At(Function f, float x) {
  return ToVector<float>(f(Variable(FromVector<float>({x}, {1}))).data())[0];
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
double Phi(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }
Variable GeluErf(const Variable& x) { return Gelu(x); }
Variable GeluTanh(const Variable& x) { return Gelu(x, "tanh"); }

constexpr int kPoints = 100003;

TEST(VectorMath, ExpIsWithinTwoUlp) {
  const auto exact = [](double x) { return std::exp(x); };
  ExpectWithin(2, Exp, exact, Sweep(-104, 88.7, kPoints));
  ExpectWithin(2, Exp, exact, Sweep(-1e-3, 1e-3, 1001));
}

TEST(VectorMath, ExpEndsAsItShould) {
  EXPECT_EQ(At(Exp, 0), 1);
  EXPECT_EQ(At(Exp, 88.8f), kInf);
  EXPECT_EQ(At(Exp, kHuge), kInf);
  EXPECT_EQ(At(Exp, kInf), kInf);
  EXPECT_EQ(At(Exp, -104.1f), 0);
  EXPECT_EQ(At(Exp, -kHuge), 0);
  EXPECT_EQ(At(Exp, -kInf), 0);
  EXPECT_TRUE(std::isnan(At(Exp, kNaN)));
}

TEST(VectorMath, TanhIsWithinThreeUlp) {
  const auto exact = [](double x) { return std::tanh(x); };
  ExpectWithin(3, Tanh, exact, Sweep(-10, 10, kPoints));
  ExpectWithin(3, Tanh, exact, Sweep(-1e-30, 1e-30, 1001));
}

TEST(VectorMath, TanhEndsAsItShould) {
  EXPECT_EQ(At(Tanh, kInf), 1);
  EXPECT_EQ(At(Tanh, -kHuge), -1);
  EXPECT_TRUE(std::isnan(At(Tanh, kNaN)));
}

// Below -86 the result's own exponential is what overflows.
TEST(VectorMath, SigmoidIsWithinFourUlp) {
  ExpectWithin(4, Sigmoid, Logistic, Sweep(-86, 40, kPoints));
  EXPECT_EQ(At(Sigmoid, -kInf), 0);
  EXPECT_EQ(At(Sigmoid, kInf), 1);
  EXPECT_TRUE(std::isnan(At(Sigmoid, kNaN)));
}

TEST(VectorMath, SiluIsWithinFiveUlp) {
  ExpectWithin(
      5, Silu, [](double x) { return x * Logistic(x); }, Sweep(-86, 40, kPoints));
  EXPECT_TRUE(std::isnan(At(Silu, kNaN)));
}

TEST(VectorMath, GeluIsWithinNineUlp) {
  ExpectWithin(
      9, GeluErf, [](double x) { return x * Phi(x); }, Sweep(-13, 13, kPoints));
  EXPECT_EQ(At(GeluErf, -1e30f), 0);
  EXPECT_EQ(At(GeluErf, 1e30f), 1e30f);
  EXPECT_EQ(At(GeluErf, kInf), kInf);
  EXPECT_TRUE(std::isnan(At(GeluErf, kNaN)));
}

// The tail's exponent, up to 87, carries its rounding: half an ulp of it is 2^-24 87 of the result.
TEST(VectorMath, GeluOfTanhIsWithinItsExponentsRounding) {
  const auto exact = [](double x) {
    return x * Logistic(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
  };
  ExpectWithin(12, GeluTanh, exact, Sweep(-2, 8, kPoints));
  ExpectWithin(3 * 87, GeluTanh, exact, Sweep(-9, -2, kPoints));
  EXPECT_EQ(At(GeluTanh, -kHuge), 0);
  EXPECT_EQ(At(GeluTanh, 1e30f), 1e30f);
}

// The derivatives where both factors of a product leave the range of floats.
TEST(VectorMath, GradientsFarOutAreFlat) {
  for (const Function f : {Silu, GeluErf, GeluTanh, Sigmoid, Tanh})
    for (const float x : {-1e30f, 1e30f}) {
      SCOPED_TRACE(x);
      Variable leaf(FromVector<float>({x}, {1}), true);
      Backward({f(leaf)});
      const float slope = leaf.grad().data<float>()[0];
      const bool levels = f == static_cast<Function>(Sigmoid) || f == static_cast<Function>(Tanh);
      EXPECT_EQ(slope, x > 0 && !levels ? 1 : 0);
    }
}

}  // namespace
}  // namespace torus::ops
