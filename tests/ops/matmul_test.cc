#include "ops/matmul/matmul.h"

#include <cmath>

#include "ops/matmul/linear.h"
#include "ops/matmul/matmul_shape.h"
#include "ops/matmul/newton_schulz.h"
#include "ops/matmul/product.h"
#include "tests/ops/op_test.h"
#include "tests/testing/error_of.h"

namespace torus::ops {
namespace {

Variables MatmulAll(const Variables& in) { return {Matmul(in[0], in[1])}; }
Variables LinearAll(const Variables& in) {
  return {Linear(in[0], in[1], in.size() > 2 ? in[2] : Variable())};
}

GRADIENT_CASE(matmul, Vectors) { Check(MatmulAll, {RandomLeaf({4}), RandomLeaf({4}, 1)}); }
GRADIENT_CASE(matmul, MatrixVector) { Check(MatmulAll, {RandomLeaf({2, 3}), RandomLeaf({3}, 1)}); }
GRADIENT_CASE(matmul, VectorBatch) {
  Check(MatmulAll, {RandomLeaf({3}), RandomLeaf({2, 3, 4}, 1)});
}
GRADIENT_CASE(matmul, Views) {
  Check(MatmulAll, {TransposedLeaf({2, 3}), TransposedLeaf({3, 4}, 1)});
}
GRADIENT_CASE(matmul, OneMatrixForABatch) {
  Check(MatmulAll, {RandomLeaf({2, 2, 3}), RandomLeaf({3, 2}, 1)});
}
GRADIENT_CASE(matmul, BatchOnTheRight) {
  Check(MatmulAll, {RandomLeaf({2, 3}), RandomLeaf({2, 3, 2}, 1)});
}
GRADIENT_CASE(matmul, BroadcastBatches) {
  Check(MatmulAll, {RandomLeaf({2, 1, 2, 3}), TransposedLeaf({3, 3, 1}, 1)});
}
GRADIENT_CASE(matmul, NothingInside) { Check(MatmulAll, {RandomLeaf({2, 0}), RandomLeaf({0, 3})}); }
GRADIENT_CASE(matmul, EmptyBatch) {
  Check(MatmulAll, {RandomLeaf({0, 2, 3}), RandomLeaf({3, 2}, 1)});
}
GRADIENT_CASE(matmul, OneInputTwice) {
  Check([](const Variables& in) { return Variables{Matmul(in[0], in[0])}; }, {RandomLeaf({3, 3})});
}
GRADIENT_CASE(matmul, Bmm) {
  Check([](const Variables& in) { return Variables{Bmm(in[0], in[1])}; },
        {RandomLeaf({2, 1, 3}), TransposedLeaf({2, 3, 2}, 1)});
}
GRADIENT_CASE(linear, Bias) {
  Check(LinearAll, {RandomLeaf({2, 3}), RandomLeaf({4, 3}, 1), RandomLeaf({4}, 2)});
}
GRADIENT_CASE(linear, VectorWithoutBias) {
  Check(LinearAll, {RandomLeaf({3}), TransposedLeaf({4, 3}, 1)});
}
GRADIENT_CASE(linear, Batches) {
  Check(LinearAll, {TransposedLeaf({2, 2, 3}), RandomLeaf({1, 3}, 1), RandomLeaf({1}, 2)});
}
GRADIENT_CASE(linear, InOut) {
  Check([](const Variables& in) { return Variables{LinearInOut(in[0], in[1], in[2])}; },
        {RandomLeaf({2, 3, 4}), RandomLeaf({4, 5}, 1), RandomLeaf({5}, 2)});
}
GRADIENT_CASE(linear, InOutOfAView) {
  Check([](const Variables& in) { return Variables{LinearInOut(in[0], in[1])}; },
        {TransposedLeaf({3, 4}), TransposedLeaf({4, 5}, 1)});
}
GRADIENT_CASE(linear, EmptyBatch) {
  Check(LinearAll, {RandomLeaf({0, 3}), RandomLeaf({4, 3}, 1), RandomLeaf({4}, 2)});
}
GRADIENT_CASE(linear, NothingInside) {
  Check(LinearAll, {RandomLeaf({2, 0}), RandomLeaf({4, 0}, 1), RandomLeaf({4}, 2)});
}

TEST(MatmulShape, Rule) {
  EXPECT_EQ(MatmulShape({5, 1, 2, 3}, {4, 3, 6}), Shape({5, 4, 2, 6}));
  try {
    MatmulShape({2, 3}, {4, 5});
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[matmul] inner sizes differ: (2, 3) x (4, 5)");
  }
  EXPECT_THROW(MatmulShape({2, 2, 3}, {3, 3, 5}), BadInput);
}

// Every way in which a matrix may lie: rows, columns, a window, repeated rows, every second column.
TEST(MatrixProduct, ReadsEveryLayout) {
  const Tensor base = Arange(24, DType::kF32).View({4, 6});
  const std::vector<Tensor> layouts = {base.Narrow(0, 0, 3).Narrow(1, 1, 3),
                                       base.Narrow(0, 0, 3).Narrow(1, 1, 3).Transpose(0, 1),
                                       base.Select(0, 1).Narrow(0, 0, 3).Expand({3, 3}),
                                       base.View({4, 3, 2}).Select(2, 1).Narrow(0, 1, 3)};
  for (const Tensor& a : layouts) {
    for (const Tensor& b : layouts) {
      const auto x = ToVector<float>(a), y = ToVector<float>(b);
      const auto out = ToVector<float>(MatrixProduct(a, b));
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          float sum = 0;
          for (int k = 0; k < 3; ++k) sum += x[i * 3 + k] * y[k * 3 + j];
          EXPECT_EQ(out[i * 3 + j], sum);
        }
    }
  }
}

TEST(Linear, NamesTheBiasThatDoesNotFit) {
  try {
    Linear(Variable(Zeros({2, 3})), Variable(Zeros({4, 3})), Variable(Zeros({4}, DType::kF64)));
    FAIL();
  } catch (const BadInput& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("bias " + Zeros({4}, DType::kF64).Describe()), std::string::npos) << what;
  }
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  const Variable a(Zeros({2, 3}));
  EXPECT_THROW(Matmul(Variable(Zeros({})), a), BadInput);
  EXPECT_THROW(Matmul(a, Variable(Zeros({3, 2}, DType::kF64))), BadInput);
  EXPECT_THROW(Bmm(a, a), BadInput);
  EXPECT_EQ(testing::ErrorOf([&] {
              Linear(a, Variable(Zeros({4, 2})));
            }),
            "[linear] input (2, 3) has 3 features, weight (4, 2) takes 2");
  EXPECT_THROW(Linear(a, Variable(Zeros({4, 3})), Variable(Zeros({3}))), BadInput);
  EXPECT_THROW(Linear(Variable(Zeros({})), a), BadInput);
}

// A matrix with singular values and vectors that are known: the columns of a rotation, scaled.
Tensor Rotated(const std::vector<float>& singular, float angle) {
  const float c = std::cos(angle), s = std::sin(angle);
  return FromVector<float>({c * singular[0], -s * singular[1], 0, 0,  //
                            s * singular[0], c * singular[1], 0, 0,   //
                            0, 0, singular[2], 0},
                           {3, 4});
}

TEST(NewtonSchulz, KeepsVectorsAndBringsSingularValuesNearOne) {
  for (const bool tall : {false, true}) {
    const Tensor given = Rotated({3, 0.05f, 1}, 0.7f);
    const Tensor made = NewtonSchulz(tall ? given.Transpose(0, 1).Contiguous() : given);
    const Tensor got = tall ? made.Transpose(0, 1).Contiguous() : made;
    ASSERT_EQ(got.shape(), given.shape());
    const std::vector<float> v = ToVector<float>(got);
    const float c = std::cos(0.7f), s = std::sin(0.7f);
    // The five steps give values from 0.68 to 1.21, and round about ten times to bf16.
    const double rounding = 10 * 0x1p-8;
    const double values[] = {c * v[0] + s * v[4], -s * v[1] + c * v[5], v[10]};
    for (const double value : values) {
      EXPECT_GT(value, 0.68 - rounding);
      EXPECT_LT(value, 1.21 + rounding);
    }
    const double outside[] = {-s * v[0] + c * v[4], c * v[1] + s * v[5], v[2], v[3], v[6], v[11]};
    for (const double value : outside) EXPECT_NEAR(value, 0, rounding);
  }
}

TEST(NewtonSchulz, HasOneStepsValueAndRefusesWhatDoesNotFit) {
  // X = 1: a + b + c.
  const Tensor one = Full({1, 1}, 5, DType::kF64);
  const Tensor got = NewtonSchulz(one, {.coefficients = {3, -2, 0.5}, .steps = 1});
  EXPECT_EQ(got.dtype(), DType::kF64);
  EXPECT_EQ(got.Item(), 1.5);
  EXPECT_EQ(NewtonSchulz(Zeros({2, 3})).shape(), Shape({2, 3}));
  EXPECT_EQ(ToVector<float>(NewtonSchulz(Zeros({2, 3}))), std::vector<float>(6, 0));
  EXPECT_EQ(NewtonSchulz(Empty({2, 3}, DType::kF32, kMetaDevice)).device(), kMetaDevice);
  EXPECT_THROW(NewtonSchulz(Zeros({3})), BadInput);
  EXPECT_THROW(NewtonSchulz(Zeros({2, 3}), {.steps = 0}), BadInput);
}

}  // namespace
}  // namespace torus::ops
