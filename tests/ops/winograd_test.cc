// Winograd's convolutions, and those over images smaller than their kernels, against the double
// loops.
#include "ops/convolution/cpu/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ops/convolution/cpu/dense.h"
#include "ops/convolution/cpu/small_image.h"
#include "runtime/parallel_for.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::cpu {
namespace {

using testing::OddShapes;

// One convolution of normal values; `y`, `dx` and `dw` of whichever type.
struct Case {
  ConvGeometry g;
  Tensor x, weight, bias, dy;
};

template <class T>
struct Results {
  std::vector<T> y, dx, dw;
};

Case MakeCase(OddShapes& draw, const Shape& image, const Shape& weight,
              const ops::Conv2dOptions& options) {
  const ConvGeometry g = ConvGeometryOf(image, weight, options);
  return {g, draw.Normal(image), draw.Normal(weight), draw.Normal({g.o}),
          draw.Normal({g.n, g.oh, g.ow, g.o})};
}

// Any image that takes the way.
Case WinogradCase(OddShapes& draw) {
  for (;;) {
    const int64_t c = draw.Size(45, 32);
    const Case made =
        MakeCase(draw, {draw.Size(5), draw.Size(14, 3), draw.Size(14, 3), c},
                 {draw.Size(45, 32), 3, 3, c}, {.padding = {draw.Size(2, 0), draw.Size(2, 0)}});
    if (WinogradFits(made.g)) return made;
  }
}

// One or two pixels each way.
Case SmallImageCase(OddShapes& draw) {
  const int64_t kernel = draw.Coin() ? 3 : 5, c = draw.Size(37);
  return MakeCase(draw, {draw.Size(19, 8), draw.Size(2), draw.Size(2), c},
                  {draw.Size(37), kernel, kernel, c},
                  {.stride = {draw.Size(2), 1}, .padding = {kernel / 2, kernel / 2}});
}

template <class T>
Results<T> RunDispatched(const Case& c, DType dtype) {
  const Tensor x = c.x.To(dtype), weight = c.weight.To(dtype), bias = c.bias.To(dtype);
  const Tensor dy = c.dy.To(dtype);
  Results<T> out{std::vector<T>(dy.numel()), std::vector<T>(x.numel()),
                 std::vector<T>(weight.numel())};
  ConvForward(c.g, x.data<T>(), weight.data<T>(), bias.data<T>(), out.y.data());
  ConvBackwardInput(c.g, dy.data<T>(), weight.data<T>(), out.dx.data());
  ConvBackwardWeight(c.g, x.data<T>(), dy.data<T>(), out.dw.data());
  return out;
}

void ExpectNear(const std::vector<float>& fast, const std::vector<double>& exact, double tolerance,
                const char* what) {
  for (size_t i = 0; i < exact.size(); ++i)
    ASSERT_NEAR(fast[i], exact[i], tolerance) << what << " element " << i;
}

// A value of a spectrum's product is a sum of n terms with the standard deviation |B_p| |G_p| of
// their factors' rows; some n + 24 roundings, in the sum and in the transforms around it, err by at
// most eps / 2 of what is summed so far. The output adds the 36 values with the weights A_pi, so
// its error's standard deviation is at most
//   eps / 2 sqrt(n + 24) sqrt(n) gain,   gain^2 = sum over p of (A_pi |B_p| |G_p|)^2,
// of which eight are allowed. The weight's gradient is the same with A and G exchanged.
constexpr double kOutputGain = 24.6, kWeightGain = 26.3;

double WinogradTolerance(int64_t terms, double gain) {
  const double n = static_cast<double>(terms);
  return 8 * std::numeric_limits<float>::epsilon() / 2 * std::sqrt((n + 24) * n) * gain;
}

TEST(Winograd, AgreesWithThePlainSums) {
  testing::ForEachVectorWidth([] {
    OddShapes draw(1);
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      SetTeamSize(1 + i % 2);
      const Case c = WinogradCase(draw);
      SCOPED_TRACE(ToString(c.x.shape()) + " to " + ToString(c.dy.shape()));
      const auto fast = RunDispatched<float>(c, DType::kF32);
      const auto exact = RunDispatched<double>(c, DType::kF64);
      const int64_t tiles = c.g.n * ((c.g.oh + 3) / 4) * ((c.g.ow + 3) / 4);
      ExpectNear(fast.y, exact.y, WinogradTolerance(c.g.c, kOutputGain), "y");
      ExpectNear(fast.dx, exact.dx, WinogradTolerance(c.g.o, kOutputGain), "dx");
      ExpectNear(fast.dw, exact.dw, WinogradTolerance(tiles, kWeightGain), "dw");
    }
  });
}

TEST(Winograd, BitsDoNotDependOnTheTeam) {
  OddShapes draw(2);
  const Case c = WinogradCase(draw);
  SetTeamSize(1);
  const auto one = RunDispatched<float>(c, DType::kF32);
  SetTeamSize(3);
  const auto three = RunDispatched<float>(c, DType::kF32);
  EXPECT_TRUE(one.y == three.y && one.dx == three.dx && one.dw == three.dw);
}

TEST(Winograd, ClampsFromBelow) {
  OddShapes draw(3);
  const Case c = WinogradCase(draw);
  std::vector<float> y(c.dy.numel()), clamped(y);
  const float *x = c.x.data<float>(), *weight = c.weight.data<float>();
  WinogradForward(c.g, x, weight, c.bias.data<float>(), y.data());
  WinogradForward(c.g, x, weight, c.bias.data<float>(), clamped.data(), 0.5f);
  for (float& value : y) value = std::max(value, 0.5f);
  EXPECT_EQ(y, clamped);
}

// Partial sums of `terms` products of unit normals stay below 6 sqrt(terms).
double SumTolerance(int64_t terms) {
  return testing::Tolerance(DType::kF32, terms, 6 * std::sqrt(static_cast<double>(terms)));
}

TEST(SmallImage, AgreesWithThePlainSums) {
  OddShapes draw(1);
  for (int i = 0; i < 200 && !HasFatalFailure(); ++i) {
    SetTeamSize(1 + i % 2);
    const Case c = SmallImageCase(draw);
    SCOPED_TRACE(ToString(c.x.shape()) + " to " + ToString(c.dy.shape()));
    ASSERT_TRUE(SmallImageFits(c.g));
    const auto fast = RunDispatched<float>(c, DType::kF32);
    const auto exact = RunDispatched<double>(c, DType::kF64);
    ExpectNear(fast.y, exact.y, SumTolerance(4 * c.g.c + 1), "y");
    ExpectNear(fast.dx, exact.dx, SumTolerance(4 * c.g.o), "dx");
    ExpectNear(fast.dw, exact.dw, SumTolerance(4 * c.g.n), "dw");
  }
}

}  // namespace
}  // namespace torus::cpu
