#include "ops/convolution/convolution.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ops/convolution/conv1d.h"
#include "ops/convolution/conv_transpose.h"
#include "runtime/error.h"
#include "tests/testing/error_of.h"
#include "tests/testing/gradient_check.h"
#include "tests/testing/twins.h"

namespace torus {
namespace {

using ops::Conv2d;
using ops::Conv2dOptions;
using ops::PaddingMode;
using testing::RandomLeaf;
using testing::TransposedLeaf;

testing::CheckedFunction Conv(const Conv2dOptions& options) {
  return [=](const std::vector<Variable>& in) {
    return std::vector<Variable>{Conv2d(in[0], in[1], in.size() > 2 ? in[2] : Variable(), options)};
  };
}

GRADIENT_CASE(conv2d, Plain) {
  Check(Conv({}), {RandomLeaf({2, 5, 4, 3}, 1), RandomLeaf({4, 3, 2, 3}, 2), RandomLeaf({4}, 3)});
}
GRADIENT_CASE(conv2d, StridePaddingDilation) {
  Check(Conv({.stride = {2, 1}, .padding = {1, 2}, .dilation = {2, 1}}),
        {RandomLeaf({1, 7, 5, 2}, 1), RandomLeaf({3, 3, 2, 2}, 2)});
}
GRADIENT_CASE(conv2d, Same) {
  Check(Conv({.padding_mode = PaddingMode::kSame}),
        {RandomLeaf({1, 4, 5, 2}, 1), RandomLeaf({2, 2, 3, 2}, 2)});
}
GRADIENT_CASE(conv2d, Groups) {
  Check(Conv({.padding = {1, 1}, .groups = 2}),
        {RandomLeaf({2, 4, 4, 4}, 1), RandomLeaf({6, 3, 3, 2}, 2), RandomLeaf({6}, 3)});
}
GRADIENT_CASE(conv2d, Depthwise) {
  Check(Conv({.stride = {2, 2}, .padding = {1, 1}, .groups = 3}),
        {RandomLeaf({2, 5, 5, 3}, 1), RandomLeaf({3, 3, 3, 1}, 2)});
}
GRADIENT_CASE(conv2d, Pointwise) {
  Check(Conv({}), {RandomLeaf({2, 3, 3, 4}, 1), RandomLeaf({5, 1, 1, 4}, 2), RandomLeaf({5}, 3)});
}
GRADIENT_CASE(conv2d, View) {
  Check(Conv({}), {TransposedLeaf({1, 4, 4, 3}, 1), TransposedLeaf({2, 2, 2, 3}, 2)});
}
GRADIENT_CASE(conv2d, EmptyBatch) {
  Check(Conv({}), {RandomLeaf({0, 3, 3, 2}, 1), RandomLeaf({2, 2, 2, 2}, 2)});
}
GRADIENT_CASE(conv2d, SizeOne) {
  Check(Conv({}), {RandomLeaf({1, 1, 1, 1}, 1), RandomLeaf({1, 1, 1, 1}, 2)});
}

testing::CheckedFunction Transposed(const ops::ConvTranspose2dOptions& options) {
  return [=](const std::vector<Variable>& in) {
    return std::vector<Variable>{
        ops::ConvTranspose2d(in[0], in[1], in.size() > 2 ? in[2] : Variable(), options)};
  };
}

GRADIENT_CASE(conv_transpose2d, Plain) {
  Check(Transposed({}),
        {TransposedLeaf({2, 3, 4, 3}, 1), RandomLeaf({3, 3, 2, 2}, 2), RandomLeaf({2}, 3)});
}
GRADIENT_CASE(conv_transpose2d, AllOptions) {
  Check(Transposed({.stride = {2, 3},
                    .padding = {1, 0},
                    .output_padding = {1, 2},
                    .groups = 2,
                    .dilation = {1, 2}}),
        {RandomLeaf({1, 3, 2, 4}, 1), RandomLeaf({4, 3, 2, 3}, 2), RandomLeaf({6}, 3)});
}
GRADIENT_CASE(conv_transpose2d, DepthwiseAndPointwise) {
  Check(Transposed({.stride = {2, 2}, .groups = 3}),
        {RandomLeaf({2, 3, 3, 3}, 1), RandomLeaf({3, 3, 3, 1}, 2)});
  Check(Transposed({}), {RandomLeaf({2, 3, 3, 4}, 1), RandomLeaf({4, 1, 1, 5}, 2)});
}
GRADIENT_CASE(conv_transpose2d, EmptyBatch) {
  Check(Transposed({}), {RandomLeaf({0, 3, 3, 2}, 1), RandomLeaf({2, 2, 2, 2}, 2)});
}
GRADIENT_CASE(conv_transpose2d, OfSequences) {
  Check(
      [](const std::vector<Variable>& in) {
        return std::vector<Variable>{
            ops::ConvTranspose1d(in[0], in[1], {}, {.stride = 2, .padding = 1})};
      },
      {RandomLeaf({2, 4, 3}, 1), RandomLeaf({3, 3, 2}, 2)});
}
GRADIENT_CASE(conv2d, OfSequences) {
  Check(
      [](const std::vector<Variable>& in) {
        return std::vector<Variable>{ops::Conv1d(
            in[0], in[1], in[2], {.stride = 2, .padding = 1, .dilation = 2, .groups = 2})};
      },
      {RandomLeaf({2, 7, 4}, 1), RandomLeaf({6, 3, 2}, 2), RandomLeaf({6}, 3)});
}

// Each pixel adds the whole kernel: 1 x (1, 2, 3) at 0 and 10 x (1, 2, 3) at the stride.
TEST(ConvTranspose2d, AddsTheKernelOfEachPixel) {
  const Variable x(FromVector<float>({1, 10}, {1, 1, 2, 1}));
  const Variable weight(FromVector<float>({1, 2, 3}, {1, 1, 3, 1}));
  const auto values = [&](const ops::ConvTranspose2dOptions& options) {
    return ToVector<float>(ops::ConvTranspose2d(x, weight, {}, options).data());
  };
  EXPECT_EQ(values({}), (std::vector<float>{1, 12, 23, 30}));
  EXPECT_EQ(values({.stride = {1, 2}, .output_padding = {0, 1}}),
            (std::vector<float>{1, 2, 13, 20, 30, 0}));
  EXPECT_EQ(values({.padding = {0, 1}}), (std::vector<float>{12, 23}));
}

TEST(ConvTranspose2d, F32AgreesWithF64OnOddShapes) {
  testing::CheckTwins([](testing::OddShapes& shapes) {
    const int64_t groups = shapes.Size(2), in = groups * shapes.Size(9);
    const int64_t out = shapes.Size(9), kernel = shapes.Size(4), stride = shapes.Size(3);
    const ops::ConvTranspose2dOptions options{.stride = {stride, 1},
                                              .padding = {shapes.Size(kernel, 0) / 2, 0},
                                              .output_padding = {shapes.Size(stride, 1) - 1, 0},
                                              .groups = groups,
                                              .dilation = {1, shapes.Size(2)}};
    const Tensor x = shapes.Normal({shapes.Size(3), shapes.Size(7, 3), shapes.Size(7), in});
    const int64_t taps = kernel * kernel;
    return testing::Twin{.function = Transposed(options),
                         .inputs = {x, shapes.Normal({in, kernel, kernel, out})},
                         .terms = in * taps,
                         .gradient_terms = std::max(out * taps, x.numel() / in)};
  });
}

TEST(ConvTranspose2d, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({1, 2, 2, 4})), weight(Zeros({4, 3, 3, 2}));
  const auto of = [&](const ops::ConvTranspose2dOptions& options) {
    return ops::ConvTranspose2d(x, weight, {}, options);
  };
  EXPECT_THROW(of({.output_padding = {1, 0}}), BadInput);
  EXPECT_THROW(of({.padding = {2, 2}}), BadInput);
  EXPECT_THROW(of({.groups = 3}), BadInput);
  EXPECT_THROW(of({.stride = {0, 1}}), BadInput);
  EXPECT_THROW(ops::ConvTranspose2d(x, Variable(Zeros({3, 3, 3, 2}))), BadInput);
  EXPECT_THROW(ops::ConvTranspose2d(x, weight, Variable(Zeros({4}))), BadInput);
  EXPECT_THROW(ops::Conv1d(x, weight), BadInput);
}

TEST(Conv2d, SumsUnderTheKernel) {
  const Variable x(FromVector<float>({1, 2, 3, 4}, {1, 2, 2, 1}));
  const Variable weight(FromVector<float>({1, 10, 100, 1000}, {1, 2, 2, 1}));
  EXPECT_EQ(Conv2d(x, weight).data().Item(), 4321);
}

TEST(Conv2d, SameWithAnEvenKernelPadsLast) {
  const Variable x(FromVector<float>({1, 2, 3}, {1, 1, 3, 1}));
  const Variable weight(FromVector<float>({1, 10}, {1, 1, 2, 1}));
  const Variable y = Conv2d(x, weight, {}, {.padding_mode = PaddingMode::kSame});
  EXPECT_EQ(ToVector<float>(y.data()), (std::vector<float>{21, 32, 3}));
}

TEST(Conv2d, BadInputIsNamed) {
  const Variable x(Zeros({1, 4, 4, 3})), weight(Zeros({2, 3, 3, 3}));
  EXPECT_THROW(Conv2d(Variable(Zeros({4, 4, 3})), weight), BadInput);
  EXPECT_EQ(testing::ErrorOf([&] {
              Conv2d(Variable(Zeros({8, 1, 12, 12})), weight);
            }),
            "[conv2d] 12 channels of images (N, H, W, C) (8, 1, 12, 12) do not fit weight "
            "(2, 3, 3, 3) in 1 groups");
  EXPECT_THROW(Conv2d(x, Variable(Zeros({2, 5, 5, 3}))), BadInput);
  EXPECT_THROW(Conv2d(x, weight, Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(Conv2d(x, weight, {}, {.stride = {0, 1}}), BadInput);
  EXPECT_THROW(Conv2d(x, weight, {}, {.stride = {2, 2}, .padding_mode = PaddingMode::kSame}),
               BadInput);
  EXPECT_EQ(testing::ErrorOf([&] { Conv2d(Variable(Zeros(x.shape(), DType::kU8)), weight); }),
            "[conv2d] input is u8, weight f32: give the input the weight's type by ops::Cast");
  EXPECT_THROW(Conv2d(x, Variable(Zeros({0, 3, 3, 3}))), BadInput);
}

// As PyTorch: no pixel is fine where there is no image or no channel.
TEST(Conv2d, NeedsPixels) {
  const auto conv = [](const Shape& image) {
    const Variable weight(Zeros({2, 3, 3, image[3]}));
    return Conv2d(Variable(Zeros(image)), weight, {}, {.padding = {2, 2}}).shape();
  };
  EXPECT_THROW(conv({1, 0, 4, 3}), BadInput);
  EXPECT_THROW(conv({1, 4, 0, 3}), BadInput);
  EXPECT_EQ(conv({0, 0, 4, 3}), Shape({0, 2, 6, 2}));
  EXPECT_EQ(conv({1, 0, 4, 0}), Shape({1, 2, 6, 2}));
}

}  // namespace
}  // namespace torus
