// Images that are resized, cut into windows, and summed back.
#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "ops/pooling/average_pool.h"
#include "ops/resampling/axis_taps.h"
#include "ops/resampling/interpolate.h"
#include "ops/resampling/pixel_shuffle.h"
#include "ops/resampling/unfold.h"
#include "ops/view/view.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

testing::CheckedFunction Resized(const InterpolateOptions& options) {
  return Of([=](const Variable& x) { return Interpolate(x, options); });
}

GRADIENT_CASE(interpolate, Nearest) {
  Check(Resized({.size = {5, 2}}), {RandomLeaf({2, 3, 4, 2})});
}
GRADIENT_CASE(interpolate, NearestExactOfALine) {
  Check(Resized({.scale_factor = {0.6}, .mode = "nearest-exact"}), {TransposedLeaf({2, 7, 3})});
}
GRADIENT_CASE(interpolate, Bilinear) {
  Check(Resized({.scale_factor = {1.7, 0.5}, .mode = "bilinear"}), {RandomLeaf({1, 3, 4, 2})});
}
GRADIENT_CASE(interpolate, BilinearWithCorners) {
  Check(Resized({.size = {1, 7}, .mode = "bilinear", .align_corners = true}),
        {RandomLeaf({2, 3, 4, 1})});
}
GRADIENT_CASE(interpolate, Antialiased) {
  Check(Resized({.size = {2}, .mode = "bicubic", .antialias = true}), {RandomLeaf({1, 5, 7, 2})});
}
GRADIENT_CASE(interpolate, Trilinear) {
  Check(Resized({.size = {3, 2, 4}, .mode = "trilinear"}), {RandomLeaf({1, 2, 2, 3, 2})});
}
GRADIENT_CASE(interpolate, OfTheSameSize) {
  Check(Resized({.size = {3}}), {RandomLeaf({2, 3, 2})});
}
GRADIENT_CASE(interpolate, NoImages) {
  Check(Resized({.size = {4}, .mode = "bicubic"}), {RandomLeaf({0, 3, 3, 2})});
}
GRADIENT_CASE(unfold, EveryArgument) {
  Check(Of([](const Variable& x) {
          return Unfold(x, {3, 2}, {1, 2}, {2, 1}, {2, 1});
        }),
        {TransposedLeaf({2, 4, 5, 3})});
}
GRADIENT_CASE(unfold, SkipsPixels) {
  Check(Of([](const Variable& x) { return Unfold(x, {1}, {1}, {0}, {2}); }),
        {RandomLeaf({1, 3, 4, 2})});
}
GRADIENT_CASE(fold, EveryArgument) {
  Check(Of([](const Variable& x) {
          return Fold(x, {4, 5}, {3, 2}, {1, 2}, {2, 1}, {2, 1});
        }),
        {RandomLeaf({2, 15, 12})});
}
GRADIENT_CASE(fold, NoImages) {
  Check(Of([](const Variable& x) { return Fold(x, {3}, {2}); }), {RandomLeaf({0, 4, 8})});
}
GRADIENT_CASE(permute, PixelShuffles) {
  Check(Of([](const Variable& x) { return PixelShuffle(PixelUnshuffle(x, 2), 2); }),
        {TransposedLeaf({2, 4, 6, 3})});
}

// Rows of a map are those of the transposed one's columns.
TEST(AxisTaps, Transpose) {
  AxisTaps taps{.in = 3};
  taps.taps = {{0, 1}, {2, 2}, {2, 3}};
  taps.first = {0, 2, 2, 3};
  const AxisTaps back = TransposedTaps(taps);
  EXPECT_EQ(back.in, 3);
  EXPECT_EQ(back.first, (std::vector<int64_t>{0, 1, 1, 3}));
  ASSERT_EQ(back.taps.size(), 3u);
  EXPECT_EQ(back.taps[1].at, 0);
  EXPECT_EQ(back.taps[1].weight, 2);
  EXPECT_EQ(back.taps[2].at, 2);
  EXPECT_FALSE(IsIdentity(back));
}

TEST(Interpolate, Values) {
  const Variable line(FromVector<float>({0, 1, 2, 3}, {1, 4, 1}));
  EXPECT_EQ(Values(Interpolate(line, {.size = {6}})), (Floats{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(Values(Interpolate(line, {.size = {3}, .mode = "nearest-exact"})), (Floats{0, 2, 3}));
  EXPECT_EQ(Values(Interpolate(line, {.size = {8}, .mode = "linear"})),
            (Floats{0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3}));
  EXPECT_EQ(Values(Interpolate(line, {.size = {7}, .mode = "linear", .align_corners = true})),
            (Floats{0, 0.5, 1, 1.5, 2, 2.5, 3}));
  EXPECT_EQ(Values(Interpolate(line, {.size = {2}, .mode = "area"})), (Floats{0.5, 2.5}));
  EXPECT_EQ(Interpolate(Counted({1, 3, 3, 2}), {.scale_factor = {1.5}}).shape(),
            Shape({1, 4, 4, 2}));
  const Variable low(Full({1, 3, 3, 2}, 1.5, DType::kBF16));
  EXPECT_EQ(Interpolate(low, {.size = {2}, .mode = "bilinear"}).dtype(), DType::kBF16);
}

// The factor places the pixels, unless it is to be recomputed from the sizes.
TEST(Interpolate, RecomputesTheScale) {
  const Variable line(FromVector<float>({0, 1, 2, 3, 4}, {1, 5, 1}));
  InterpolateOptions options{.scale_factor = {1.5}, .mode = "linear"};
  const Floats placed = Values(Interpolate(line, options));
  options.recompute_scale_factor = true;
  const Floats fitted = Values(Interpolate(line, options));
  EXPECT_EQ(fitted, Values(Interpolate(line, {.size = {7}, .mode = "linear"})));
  EXPECT_NE(placed, fitted);
}

// Two ways to average: their windows are the same.
TEST(Interpolate, AreaIsAdaptivePooling) {
  CheckTwins([](OddShapes& shapes) {
    const Shape shape = shapes.Dims(4, 9);
    const Dims size{shapes.Size(7), shapes.Size(7)};
    return Twin{.function =
                    [=](const Variables& in) {
                      const Variable area = Interpolate(in[0], {.size = size, .mode = "area"});
                      return Variables{
                          in[0].dtype() == DType::kF32 ? area : AdaptiveAvgPool2d(in[0], size)};
                    },
                .inputs = {shapes.Normal(shape)},
                .terms = 81,
                .gradient_terms = 49,
                .magnitude = 9};
  });
}

TEST(Unfold, IsTheTransposeOfFold) {
  const Variable image = Counted({1, 2, 3, 2});
  const Variable rows = Unfold(image, {2});
  EXPECT_EQ(rows.shape(), Shape({1, 2, 8}));
  EXPECT_EQ(Values(rows), (Floats{0, 1, 2, 3, 6, 7, 8, 9, 2, 3, 4, 5, 8, 9, 10, 11}));
  EXPECT_EQ(Values(Fold(rows, {2, 3}, {2})), (Floats{0, 1, 4, 6, 4, 5, 6, 7, 16, 18, 10, 11}));
  EXPECT_EQ(
      ToVector<int64_t>(Unfold(Variable(Arange(4).View({1, 2, 2, 1})), {2}, {1}, {1}, {2}).data()),
      (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0}));
}

TEST(PixelShuffle, Values) {
  const Variable x = Counted({1, 1, 2, 4});
  EXPECT_EQ(Values(PixelShuffle(x, 2)), (Floats{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(Values(PixelUnshuffle(PixelShuffle(x, 2), 2)), Values(x));
  EXPECT_EQ(PixelShuffle(Counted({0, 2, 2, 8}), 2).shape(), Shape({0, 4, 4, 2}));
}

// Tables of several launches, whose last is not full. A linear result has two terms, whose weights
// are the table's on both devices; each rounds them.
TEST(Interpolate, LongAxesOnAGpuAreThoseOfTheCpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  const Variable x(RandomLeaf({1, 601, 2}).data().To(DType::kF32));
  const InterpolateOptions options{.size = {997}, .mode = "linear"};
  const Floats want = Values(Interpolate(x, options));
  const Tensor got = Interpolate(Variable(x.data().To(testing::kFirstGpu)), options).data();
  const Floats values = ToVector<float>(got.To(Device{}));
  double largest = 0;
  for (const float v : Values(x)) largest = std::max<double>(largest, std::abs(v));
  const double tolerance = 2 * testing::Tolerance(DType::kF32, 2, largest);
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(values[i], want[i], tolerance) << i;
}

TEST(Resampling, RefusesWhatDoesNotFit) {
  const Variable x = Counted({1, 4, 4, 3});
  EXPECT_EQ(testing::ErrorOf([&] { Interpolate(x, {.size = {2}, .mode = "linear"}); }),
            "[interpolate] mode linear is for 1 axes, got 2");
  EXPECT_THROW(Interpolate(x, {}), BadInput);
  EXPECT_THROW(Interpolate(x, {.size = {2}, .scale_factor = {2}}), BadInput);
  EXPECT_THROW(Interpolate(x, {.size = {2, 2, 2}}), BadInput);
  EXPECT_THROW(Interpolate(x, {.size = {0}}), BadInput);
  EXPECT_THROW(Interpolate(x, {.scale_factor = {0.1}}), BadInput);
  EXPECT_THROW(Interpolate(x, {.size = {2}, .mode = "box"}), BadInput);
  EXPECT_THROW(Interpolate(x, {.size = {2}, .align_corners = false}), BadInput);
  EXPECT_THROW(Interpolate(x, {.size = {2}, .antialias = true}), BadInput);
  EXPECT_THROW(Interpolate(Counted({2, 3}), {.size = {2}}), BadInput);
  EXPECT_THROW(Interpolate(Variable(Arange(6).View({1, 6, 1})), {.size = {2}}), BadInput);
  EXPECT_THROW(Unfold(x, {5}), BadInput);
  EXPECT_THROW(Unfold(x, {2, 2, 2}), BadInput);
  EXPECT_THROW(Unfold(x, {2}, {0}), BadInput);
  EXPECT_THROW(Unfold(Counted({4, 4, 3}), {2}), BadInput);
  EXPECT_THROW(Fold(Counted({1, 9, 8}), {4}, {2, 3}), BadInput);
  EXPECT_THROW(Fold(Counted({1, 9, 7}), {4}, {2}), BadInput);
  EXPECT_THROW(PixelShuffle(x, 2), BadInput);
  EXPECT_THROW(PixelUnshuffle(x, 3), BadInput);
  EXPECT_THROW(PixelShuffle(Counted({2, 4}), 2), BadInput);
}

}  // namespace
}  // namespace torus::ops
