// The float convolutions (GEMM, depthwise, oneDNN) against the double loops, forward and both
// gradients, on 200 random odd shapes for each kind and at every vector width of the machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "autograd/backward.h"
#include "ops/convolution/convolution.h"
#include "runtime/parallel_for.h"
#include "runtime/rng.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus {
namespace {

using ops::Conv2dOptions;

enum class Kind { kPointwise, kStridedPointwise, kDepthwise, kDense };

struct Case {
  Shape image, weight;
  Conv2dOptions options;
  bool bias;
};

class Draw {
 public:
  explicit Draw(uint64_t seed) : rng_(seed) {}
  int64_t Size(int low, int high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }
  Case Next(Kind kind);

 private:
  std::mt19937_64 rng_;
};

Case Draw::Next(Kind kind) {
  if (kind == Kind::kPointwise) {
    const int64_t c = Size(1, 37);
    return {{Size(1, 3), Size(1, 13), Size(1, 13), c}, {Size(1, 41), 1, 1, c}, {}, Size(0, 1) == 1};
  }
  if (kind == Kind::kStridedPointwise) {  // few channels, where oneDNN errs on its own
    const int64_t c = Size(1, 24);
    Case strided{{Size(1, 3), Size(5, 24), Size(5, 24), c}, {8 * Size(1, 2), 1, 1, c}, {}, false};
    strided.options.stride = {Size(1, 3), Size(2, 3)};
    return strided;
  }
  const int64_t groups = kind == Kind::kDepthwise ? Size(1, 53) : Size(1, 3);
  const int64_t in = kind == Kind::kDepthwise ? 1 : Size(1, 9),
                out = kind == Kind::kDepthwise ? 1 : Size(1, 9);
  const int64_t kh = Size(1, 5), kw = Size(1, 5), dh = Size(1, 2), dw = Size(1, 2);
  Case c{{Size(1, 3), Size(1, 19), Size(1, 35), groups * in},
         {groups * out, kh, kw, in},
         {},
         Size(0, 1) == 1};
  c.options.groups = groups;
  c.options.dilation = {dh, dw};
  c.options.stride = {Size(1, 3), Size(1, 3)};
  // Enough padding for the kernel to fit, and now and then some more.
  c.options.padding = {std::max<int64_t>(0, dh * (kh - 1) + 1 - c.image[1] + 1) / 2 + Size(0, 2),
                       std::max<int64_t>(0, dw * (kw - 1) + 1 - c.image[2] + 1) / 2 + Size(0, 2)};
  return c;
}

Tensor Random(const Shape& shape, uint64_t seed) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, 1, RandomStream({.seed = seed}));
  return out;
}

struct Results {
  Tensor y, dx, dw, db;
};

Results Run(const Case& c, DType dtype, uint64_t seed) {
  const Variable x(Random(c.image, seed).To(dtype), true),
      weight(Random(c.weight, seed + 1).To(dtype), true);
  const Variable bias =
      c.bias ? Variable(Random({c.weight[0]}, seed + 2).To(dtype), true) : Variable();
  const Variable y = ops::Conv2d(x, weight, bias, c.options);
  Backward({y}, {Random(y.shape(), seed + 3).To(dtype)});
  return {y.data(), x.grad(), weight.grad(), c.bias ? bias.grad() : Tensor()};
}

// Partial sums of `terms` products of unit normals have the size of sqrt(terms) where they cancel.
void ExpectNear(const Tensor& fast, const Tensor& exact, int64_t terms, const char* what) {
  const auto a = ToVector<float>(fast);
  const auto b = ToVector<double>(exact);
  ASSERT_EQ(a.size(), b.size());
  double magnitude = std::sqrt(static_cast<double>(terms));
  for (double value : b) magnitude = std::max(magnitude, std::abs(value));
  const double tolerance = testing::Tolerance(DType::kF32, terms, magnitude);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance) << what << " element " << i;
}

void Compare(const Case& c, uint64_t seed) {
  SCOPED_TRACE(::testing::Message()
               << ToString(c.image) << " * " << ToString(c.weight) << " stride "
               << ToString(c.options.stride) << " padding " << ToString(c.options.padding)
               << " dilation " << ToString(c.options.dilation) << " groups " << c.options.groups);
  const Results fast = Run(c, DType::kF32, seed), exact = Run(c, DType::kF64, seed);
  const int64_t taps = c.weight[1] * c.weight[2], pixels = fast.y.numel() / c.weight[0];
  ExpectNear(fast.y, exact.y, taps * c.weight[3] + 1, "y");
  ExpectNear(fast.dx, exact.dx, taps * c.weight[0] / c.options.groups, "dx");
  ExpectNear(fast.dw, exact.dw, pixels, "dw");
  if (c.bias) ExpectNear(fast.db, exact.db, pixels, "db");
}

class ConvolutionTwin : public ::testing::TestWithParam<Kind> {};

TEST_P(ConvolutionTwin, FastAgreesWithPlainAtEveryVectorWidth) {
  SetTeamSize(1);  // two hundred tiny shapes are not worth a team
  testing::ForEachVectorWidth([] {
    Draw draw(1);
    for (uint64_t i = 0; i < 200 && !HasFatalFailure(); ++i) Compare(draw.Next(GetParam()), 10 * i);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, ConvolutionTwin,
                         ::testing::Values(Kind::kPointwise, Kind::kStridedPointwise,
                                           Kind::kDepthwise, Kind::kDense));

}  // namespace
}  // namespace torus
