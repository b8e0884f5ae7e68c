#include <cmath>

#include "autograd/backward.h"
#include "ops/pooling/average_pool.h"
#include "ops/pooling/max_pool.h"
#include "ops/pooling/pooling_shape.h"
#include "tests/ops/op_test.h"

namespace torus::ops {
namespace {

testing::CheckedFunction MaxOf(const MaxPool2dOptions& options) {
  return [options](const Variables& in) { return Variables{MaxPool2d(in[0], options)}; };
}
testing::CheckedFunction AverageOf(const AvgPool2dOptions& options) {
  return [options](const Variables& in) { return Variables{AvgPool2d(in[0], options)}; };
}
testing::CheckedFunction AdaptiveOf(const Dims& size) {
  return [size](const Variables& in) { return Variables{AdaptiveAvgPool2d(in[0], size)}; };
}

GRADIENT_CASE(max_pool2d, Overlapping) {
  Check(MaxOf({.kernel_size = {3}, .stride = {2}, .padding = {1}}), {RandomLeaf({2, 5, 4, 3})});
}
GRADIENT_CASE(max_pool2d, CeilDilatedViews) {
  Check(MaxOf({.kernel_size = {2, 3}, .stride = {2, 1}, .dilation = {2, 1}, .ceil_mode = true}),
        {TransposedLeaf({1, 5, 6, 2})});
}
GRADIENT_CASE(max_pool2d, EmptyBatch) {
  Check(MaxOf({.kernel_size = {2}}), {RandomLeaf({0, 4, 4, 2})});
}
GRADIENT_CASE(max_pool2d, ManyChannels) {
  Check(MaxOf({.kernel_size = {2}}), {RandomLeaf({1, 2, 2, 67})});
}
GRADIENT_CASE(avg_pool2d, Overlapping) {
  Check(AverageOf({.kernel_size = {3}, .stride = {2}, .padding = {1}}), {RandomLeaf({2, 5, 4, 3})});
}
GRADIENT_CASE(avg_pool2d, CeilWithoutPad) {
  Check(AverageOf({.kernel_size = {3, 2},
                   .stride = {2},
                   .padding = {1, 0},
                   .ceil_mode = true,
                   .count_include_pad = false}),
        {TransposedLeaf({1, 6, 5, 2})});
}
GRADIENT_CASE(avg_pool2d, Divisor) {
  Check(AverageOf({.kernel_size = {2}, .divisor_override = 3}), {RandomLeaf({1, 4, 4, 1})});
}
GRADIENT_CASE(adaptive_avg_pool2d, Global) {
  Check(AdaptiveOf({1}), {TransposedLeaf({2, 3, 3, 2})});
}
GRADIENT_CASE(adaptive_avg_pool2d, LargerThanInput) {
  Check(AdaptiveOf({5, 2}), {RandomLeaf({1, 3, 5, 65})});
}
GRADIENT_CASE(adaptive_avg_pool2d, KeepsOneSize) {
  Check(AdaptiveOf({-1, 2}), {RandomLeaf({1, 2, 3, 1})});
}

// Whole numbers below 8, which bf16 holds: the values are exact, and are their own places.
TEST(MaxPool, WithIndicesTakesLowTypes) {
  const Variable x(Arange(8).View({1, 2, 4, 1}).To(DType::kBF16), true);
  const MaxPoolResult y = MaxPool2dWithIndices(x, {.kernel_size = {2}});
  EXPECT_EQ(y.output.dtype(), DType::kBF16);
  EXPECT_EQ(ToVector<int64_t>(y.output.data().To(DType::kI64)), (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(ToVector<int64_t>(y.indices), (std::vector<int64_t>{5, 7}));
  Backward({y.output}, {Full({1, 1, 2, 1}, 1, DType::kBF16)});
  EXPECT_EQ(x.grad().dtype(), DType::kBF16);
}

// As PyTorch gives them.
TEST(PoolingShape, Sizes) {
  EXPECT_EQ(PooledSize("pool", 6, {3, 2, 0}, false), 2);
  EXPECT_EQ(PooledSize("pool", 6, {3, 2, 0}, true), 3);
  EXPECT_EQ(PooledSize("pool", 9, {4, 3, 1}, true), 4);
  EXPECT_EQ(PooledSize("pool", 3, {2, 2, 1}, true), 2);  // a third would start in the padding
  EXPECT_EQ(PooledSize("pool", 7, {3, 1, 0, 3}, false), 1);
  EXPECT_THROW(PooledSize("pool", 6, {3, 1, 0, 3}, false), BadInput);
  EXPECT_THROW(PooledSize("pool", 6, {3, 1, 2}, false), BadInput);
  EXPECT_THROW(PooledSize("pool", 6, {3, 0, 0}, false), BadInput);
  EXPECT_THROW(PooledSize("pool", 0, {2, 1, 0}, true), BadInput);
}

TEST(PoolingShape, Windows) {
  const auto padded = SlidingWindows(4, 3, {3, 2, 1}, true);
  EXPECT_EQ(padded[0].begin, 0);
  EXPECT_EQ(padded[0].divisor, 3);
  EXPECT_EQ(padded[2].divisor, 2);  // cut at the padded end
  EXPECT_EQ(SlidingWindows(4, 3, {3, 2, 1}, false)[0].divisor, 2);
  const auto adaptive = AdaptiveWindows(8, 5);
  EXPECT_EQ(adaptive[1].begin, 1);
  EXPECT_EQ(adaptive[1].end, 4);
}

TEST(MaxPool2d, IndicesNameTheInputPlane) {
  const Variable x(Arange(12, DType::kF32).View({1, 3, 4, 1}));
  const MaxPoolResult pooled = MaxPool2dWithIndices(x, {.kernel_size = {2}, .stride = {1, 2}});
  EXPECT_EQ(ToVector<float>(pooled.output.data()), (std::vector<float>{5, 7, 9, 11}));
  EXPECT_EQ(ToVector<int64_t>(pooled.indices), (std::vector<int64_t>{5, 7, 9, 11}));
  EXPECT_EQ(pooled.indices.shape(), Shape({1, 2, 2, 1}));
}

TEST(MaxPool2d, TiesAndNaN) {
  const auto index = [](const std::vector<float>& values) {
    const Variable x(FromVector(values, {1, 1, 4, 1}));
    return MaxPool2dWithIndices(x, {.kernel_size = {1, 4}}).indices.Item();
  };
  EXPECT_EQ(index({1, 2, 2, 0}), 1);
  EXPECT_EQ(index({1, NAN, 2, 3}), 1);
  EXPECT_EQ(index({NAN, NAN, 2, 3}), 1);
  EXPECT_EQ(index({-INFINITY, -INFINITY, -INFINITY, -INFINITY}), 0);
}

// The taps of the one window lie on both sides of the image.
TEST(MaxPool2d, AWindowOfPaddingHasNoWinner) {
  struct Case {
    int64_t size, dilation;
    bool ceil_mode;
  };
  for (const Case& c : {Case{1, 2, false}, Case{3, 4, false}, Case{2, 4, true}}) {
    const Variable x(Full({2, c.size, c.size, 3}, 1), true);
    const MaxPoolResult pooled = MaxPool2dWithIndices(x, {.kernel_size = {2},
                                                          .stride = {2},
                                                          .padding = {1},
                                                          .dilation = {c.dilation},
                                                          .ceil_mode = c.ceil_mode});
    EXPECT_EQ(ToVector<float>(pooled.output.data()), std::vector<float>(6, -INFINITY));
    EXPECT_EQ(ToVector<int64_t>(pooled.indices), std::vector<int64_t>(6, -1));
    Backward({pooled.output}, {Full({2, 1, 1, 3}, 1)});
    EXPECT_EQ(ToVector<float>(x.grad()), ToVector<float>(Zeros(x.shape())));
  }
}

TEST(Pooling, PaddingNeverWins) {
  const Variable x(Full({1, 2, 2, 1}, -1));
  EXPECT_EQ(MaxPool2d(x, {.kernel_size = {2}, .padding = {1}}).data().Select(1, 0).dim(1), 2);
  EXPECT_EQ(ToVector<float>(MaxPool2d(x, {.kernel_size = {2}, .padding = {1}}).data()),
            (std::vector<float>{-1, -1, -1, -1}));
  EXPECT_EQ(ToVector<float>(AvgPool2d(x, {.kernel_size = {2}, .padding = {1}}).data()),
            (std::vector<float>{-0.25, -0.25, -0.25, -0.25}));
}

TEST(Pooling, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({1, 4, 4, 2}));
  EXPECT_THROW(MaxPool2d(Variable(Zeros({4, 4, 2})), {.kernel_size = {2}}), BadInput);
  EXPECT_THROW(MaxPool2d(x, {.kernel_size = {}}), BadInput);
  EXPECT_THROW(MaxPool2d(x, {.kernel_size = {5}}), BadInput);
  EXPECT_THROW(MaxPool2d(x, {.kernel_size = {2}, .padding = {2}}), BadInput);
  EXPECT_THROW(AvgPool2d(x, {.kernel_size = {2}, .divisor_override = 0}), BadInput);
  EXPECT_THROW(AvgPool2d(Variable(Zeros({1, 4, 4, 2}, DType::kI64)), {.kernel_size = {2}}),
               BadInput);
  EXPECT_THROW(AdaptiveAvgPool2d(x, {1, -2}), BadInput);
  for (const Shape& shape : {Shape{1, 0, 4, 2}, Shape{1, 4, 0, 2}, Shape{1, 4, 4, 0}}) {
    const Variable none(Zeros(shape));
    EXPECT_THROW(MaxPool2d(none, {.kernel_size = {2}, .padding = {1}}), BadInput);
    EXPECT_THROW(AvgPool2d(none, {.kernel_size = {2}, .padding = {1}}), BadInput);
    EXPECT_THROW(AdaptiveAvgPool2d(none, {1}), BadInput);
  }
}

}  // namespace
}  // namespace torus::ops
