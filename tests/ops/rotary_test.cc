#include "ops/rotary/rotary.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "tests/ops/op_test.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::ops {
namespace {

constexpr RotaryFrequencies kLlama3{
    .theta = 500, .factor = 8, .original_positions = 64, .low_turns = 1, .high_turns = 4};

testing::CheckedFunction Turn(const RotaryOptions& options) {
  return Of([options](const Variable& x) { return RotaryEmbedding(x, options); });
}

GRADIENT_CASE(rotary_embedding, FromAPosition) {
  Check(Turn({.first = 7}), {RandomLeaf({2, 3, 2, 6})});
}
GRADIENT_CASE(rotary_embedding, View) {
  Check(Turn({.frequencies = kLlama3}), {TransposedLeaf({2, 5, 3, 4})});
}
GRADIENT_CASE(rotary_embedding, OfSizeOne) { Check(Turn({}), {RandomLeaf({1, 1, 2})}); }
GRADIENT_CASE(rotary_embedding, Empty) { Check(Turn({}), {RandomLeaf({2, 0, 3, 4})}); }
GRADIENT_CASE(rotary_embedding, OfNoWidth) { Check(Turn({}), {RandomLeaf({2, 3, 0})}); }
GRADIENT_CASE(rotary_embedding, TwiceOfOneInput) {
  Check(
      [](const Variables& in) {
        return Variables{RotaryEmbedding(in[0]), RotaryEmbedding(in[0], {.first = 3})};
      },
      {RandomLeaf({2, 2, 2, 4})});
}

std::vector<float> AtFive(const RotaryFrequencies& frequencies) {
  const Variable x(FromVector<float>({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 1, 8}));
  return ToVector<float>(RotaryEmbedding(x, {.frequencies = frequencies, .first = 5}).data());
}

// Sums of two products, of pairs that are as long as (4, 8) at most. An angle of up to 5 that is
// rounded in f32 turns a pair by 5 u of its length, within the rule's 8.
void ExpectNear(const std::vector<float>& got, const std::vector<float>& wanted) {
  const double tolerance = testing::Tolerance(DType::kF32, 2, std::hypot(4, 8));
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

// As transformers 5.23 computes them in f32.
TEST(Rotary, KnownValues) {
  ExpectNear(AtFive({}), {5.0782838f, -1.1213882f, 2.6463966f, 3.9599502f, 0.4593867f, 6.2243462f,
                          7.1411896f, 8.0198994f});
  ExpectNear(AtFive({.factor = 4}), {-4.4296007f, 1.2363470f, 2.9122679f, 3.9899969f, 2.5255966f,
                                     6.2025356f, 7.0369520f, 8.0049934f});
  ExpectNear(AtFive({.factor = 8, .original_positions = 64}),
             {5.0782838f, 1.6047585f, 2.9561915f, 3.9949991f, 0.4593867f, 6.1175771f, 7.0186129f,
              8.0025f});
}

double Length(const Variable& v) {
  double squares = 0;
  for (const double value : ToVector<double>(v.data())) squares += value * value;
  return std::sqrt(squares);
}

// Scores depend on the distance of two tokens alone. A rounded angle of up to 1003 turns a pair by
// 1003 u of its length.
TEST(Rotary, ProductsDependOnTheDistance) {
  const Variable q = RandomLeaf({1, 1, 1, 8}, 1), k = RandomLeaf({1, 1, 1, 8}, 2);
  const auto product = [&](int64_t at_query, int64_t at_key) {
    const std::vector<double> a = ToVector<double>(RotaryEmbedding(q, {.first = at_query}).data()),
                              b = ToVector<double>(RotaryEmbedding(k, {.first = at_key}).data());
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  EXPECT_NEAR(product(3, 1), product(1003, 1001),
              testing::Tolerance(DType::kF64, 8, 1003 * Length(q) * Length(k)));
  EXPECT_GT(std::abs(product(3, 1) - product(4, 1)), 1e-3);
}

// The last tokens of a text, computed alone, are those of the whole text.
TEST(Rotary, ContinuesAtAPosition) {
  const Variable x(RandomLeaf({2, 6, 3, 8}).data().To(DType::kF32));
  const Tensor whole = RotaryEmbedding(x).data();
  const Tensor last = RotaryEmbedding(Variable(x.data().Narrow(1, 4, 2)), {.first = 4}).data();
  EXPECT_EQ(ToVector<float>(whole.Narrow(1, 4, 2).Contiguous()), ToVector<float>(last));
}

// 16 bits are computed in f32 and rounded once.
TEST(Rotary, Of16Bits) {
  const Variable x(RandomLeaf({2, 3, 2, 4}).data().To(DType::kBF16));
  const Tensor wide = RotaryEmbedding(Variable(x.data().To(DType::kF32))).data();
  const Tensor y = RotaryEmbedding(x).data();
  EXPECT_EQ(y.dtype(), DType::kBF16);
  EXPECT_EQ(ToVector<float>(y.To(DType::kF32)),
            ToVector<float>(wide.To(DType::kBF16).To(DType::kF32)));
}

// Halves that are packs of 16 bytes, and others. The CPU computes in f64 on the same values. Each
// result is a sum of two products of a pair that is no longer than sqrt(2) times the largest value;
// an angle of up to 4, rounded, turns it by 4 u of its length, within the rule's 8.
TEST(Rotary, OnAGpuIsThatOfTheCpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  for (const int64_t half : {8, 24, 4, 5})
    for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32, DType::kF64}) {
      SCOPED_TRACE(fmt::format("{} {}", half, Name(dtype)));
      const Variable x(RandomLeaf({2, 3, 2, 2 * half}).data().To(dtype));
      const Variable wide(x.data().To(DType::kF64)), there(x.data().To(testing::kFirstGpu));
      const std::vector<double> want = ToVector<double>(RotaryEmbedding(wide, {.first = 2}).data());
      const std::vector<double> got = ToVector<double>(
          RotaryEmbedding(there, {.first = 2}).data().To(Device{}).To(DType::kF64));
      double longest = 0;
      for (const double y : want) longest = std::max(longest, std::sqrt(2) * std::abs(y));
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(got[i], want[i], testing::ToleranceRoundedOnce(dtype, 2, longest, want[i]))
            << i;
    }
}

TEST(Rotary, TwinsAgree) {
  CheckTwins([](OddShapes& shapes) {
    const int64_t half = shapes.Size(17), first = shapes.Size(9, 0);
    const Tensor x = shapes.Normal({shapes.Size(3), shapes.Size(9), shapes.Size(4), 2 * half});
    // Two products have 4 sqrt(2) u of a pair's length, and an angle of up to 17 that is rounded 17
    // more: as much as ((17 + 4 sqrt(2)) / 4)^2 terms. Normal values are below 5.
    constexpr int64_t kTerms = 33;
    return Twin{.function = Turn({.frequencies = kLlama3, .first = first}),
                .inputs = {x},
                .terms = kTerms,
                .gradient_terms = kTerms,
                .magnitude = 5 * std::sqrt(2)};
  });
}

TEST(Rotary, RefusesWhatDoesNotFit) {
  EXPECT_THROW(RotaryEmbedding(RandomLeaf({2, 3, 5})), BadInput);
  EXPECT_THROW(RotaryEmbedding(RandomLeaf({3, 4})), BadInput);
  EXPECT_THROW(RotaryEmbedding(RandomLeaf({1, 1, 2}), {.first = -1}), BadInput);
  EXPECT_THROW(RotaryEmbedding(Variable(Zeros({1, 1, 2}, DType::kI64))), BadInput);
}

}  // namespace
}  // namespace torus::ops
