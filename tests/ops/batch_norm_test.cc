#include "ops/batch_norm/batch_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/backward.h"
#include "runtime/error.h"
#include "tests/testing/error_of.h"
#include "tests/testing/gradient_check.h"

namespace torus {
namespace {

using ops::Activation;
using testing::RandomLeaf;
using testing::TransposedLeaf;
using testing::UniformLeaf;

testing::CheckedFunction Train(Activation activation) {
  return [=](const std::vector<Variable>& in) {
    return std::vector<Variable>{ops::BatchNormTrain(in[0], in[1], in[2], 1e-5, activation,
                                                     in.size() > 3 ? in[3] : Variable())
                                     .y};
  };
}

testing::CheckedFunction Eval(Activation activation) {
  const Tensor mean = FromVector<double>({0.1, -0.2, 0.3}, {3}),
               var = FromVector<double>({0.5, 1, 2}, {3});
  return [=](const std::vector<Variable>& in) {
    const Device device = in[0].data().device();
    return std::vector<Variable>{ops::BatchNormEval(in[0], mean.To(device), var.To(device), in[1],
                                                    in[2], 1e-5, activation,
                                                    in.size() > 3 ? in[3] : Variable())};
  };
}

Variable Weight() { return UniformLeaf({3}, 0.5, 2, 7); }

GRADIENT_CASE(batch_norm, Train) {
  Check(Train(Activation::kNone), {RandomLeaf({5, 3}, 1), Weight(), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(batch_norm, TrainRelu) {
  Check(Train(Activation::kRelu), {RandomLeaf({2, 4, 2, 3}, 1), Weight(), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(batch_norm, TrainRelu6) {
  Check(Train(Activation::kRelu6),
        {RandomLeaf({2, 7, 3}, 3), UniformLeaf({3}, 4, 9, 7), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(batch_norm, TrainView) {
  Check(Train(Activation::kRelu6), {TransposedLeaf({2, 7, 3}, 3), Weight(), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(batch_norm, TrainResidual) {
  Check(Train(Activation::kRelu6),
        {RandomLeaf({2, 7, 3}, 3), Weight(), RandomLeaf({3}, 2), RandomLeaf({2, 7, 3}, 5)});
}
GRADIENT_CASE(batch_norm, TrainPlainResidual) {
  Check(Train(Activation::kNone),
        {RandomLeaf({2, 7, 3}, 3), Weight(), RandomLeaf({3}, 2), RandomLeaf({2, 7, 3}, 5)});
}
GRADIENT_CASE(batch_norm, TrainSameResidual) {
  Check(
      [](const std::vector<Variable>& in) {
        return std::vector<Variable>{
            ops::BatchNormTrain(in[0], {}, {}, 1e-5, Activation::kRelu, in[0]).y};
      },
      {RandomLeaf({6, 3}, 3)});
}
GRADIENT_CASE(batch_norm, OneChannel) {
  Check(Train(Activation::kNone), {RandomLeaf({5, 1}, 1), RandomLeaf({1}, 2), RandomLeaf({1}, 3)});
}
GRADIENT_CASE(batch_norm, TrainNoRows) {
  Check(Train(Activation::kRelu6),
        {RandomLeaf({0, 2, 3}, 3), Weight(), RandomLeaf({3}, 2), RandomLeaf({0, 2, 3}, 5)});
}
GRADIENT_CASE(batch_norm, Eval) {
  Check(Eval(Activation::kNone), {RandomLeaf({5, 3}, 1), Weight(), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(batch_norm, EvalRelu6) {
  Check(Eval(Activation::kRelu6),
        {RandomLeaf({5, 3}, 1), Weight(), RandomLeaf({3}, 2), RandomLeaf({5, 3}, 9)});
}

// Another replica has 7 rows, and no loss: its own sums of the backward are 0.
testing::CheckedFunction TrainBesideAnother(Activation activation) {
  const Tensor other =
      FromVector<double>({0.4, -1, 2, /*variances*/ 0.7, 2, 1.5, /*count*/ 7}, {7});
  const GatherReplicas gather = [other](const Tensor& own) {
    const bool forward = own.rank() == 1;
    return std::vector{
        forward ? other.To(own.device()) : Zeros(own.shape(), DType::kF64, own.device()), own};
  };
  return [=](const std::vector<Variable>& in) {
    return std::vector{ops::BatchNormTrain(in[0], in[1], in[2], 1e-5, activation,
                                           in.size() > 3 ? in[3] : Variable(), gather)
                           .y};
  };
}

GRADIENT_CASE(batch_norm, TrainBesideAnother) {
  Check(TrainBesideAnother(Activation::kRelu),
        {RandomLeaf({2, 4, 2, 3}, 1), Weight(), RandomLeaf({3}, 2)});
}
GRADIENT_CASE(batch_norm, TrainBesideAnotherResidual) {
  Check(TrainBesideAnother(Activation::kRelu6),
        {RandomLeaf({2, 7, 3}, 3), Weight(), RandomLeaf({3}, 2), RandomLeaf({2, 7, 3}, 5)});
}
GRADIENT_CASE(batch_norm, TrainOneRowBesideAnother) {
  Check(TrainBesideAnother(Activation::kNone),
        {RandomLeaf({1, 3}, 3), Weight(), RandomLeaf({3}, 2)});
}

GRADIENT_CASE(batch_norm, TrainNoRowsBesideAnother) {
  Check(TrainBesideAnother(Activation::kNone),
        {RandomLeaf({0, 3}, 3), Weight(), RandomLeaf({3}, 2)});
}

TEST(BatchNorm, NormalisesEachChannel) {
  const Variable x(FromVector<float>({1, 10, 3, 30, 5, 80}, {3, 2}));
  const auto result = ops::BatchNormTrain(x, {}, {}, 0.0);
  EXPECT_EQ(ToVector<float>(result.mean), (std::vector<float>{3, 40}));
  EXPECT_FLOAT_EQ(ToVector<float>(result.var)[0], 8.0f / 3);
  EXPECT_EQ(result.count, 3);
  EXPECT_FLOAT_EQ(ToVector<float>(result.y.data())[0], -2 / std::sqrt(8.0f / 3));
}

// Mean 10^4 standard deviations away: a sum of squares in float would have no digit left.
TEST(BatchNorm, KeepsItsDigitsFarFromZero) {
  const int64_t rows = 5000;
  std::vector<float> values(rows);
  for (int64_t i = 0; i < rows; ++i) values[i] = 10000.0f + static_cast<float>(i % 3 - 1);
  const auto result = ops::BatchNormTrain(Variable(FromVector(values, {rows, 1})), {}, {});
  double mean = 0, var = 0;
  for (float v : values) mean += v / rows;
  for (float v : values) var += (v - mean) * (v - mean) / rows;
  EXPECT_NEAR(result.var.Item(), var, 1e-5);
}

TEST(BatchNorm, ReluLetsNanThrough) {
  const Variable x(FromVector<float>({NAN, 1, 2, 3}, {4, 1}));
  const Variable y = ops::BatchNormEval(x, Zeros({1}), Full({1}, 1), {}, {}, 0, Activation::kRelu6);
  EXPECT_TRUE(std::isnan(ToVector<float>(y.data())[0]));
  EXPECT_EQ(ToVector<float>(y.data())[3], 3.0f);
}

// Constant statistics: dx = dy weight / sqrt(var + eps), whatever x is; as PyTorch gives on CPUs
// and GPUs.
TEST(BatchNorm, InEvaluationTheInputsGradientDoesNotReadTheInput) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Variable x(FromVector<float>({NAN, 1, INFINITY, 2, 3, -INFINITY}, {3, 2}).To(dtype),
                     true);
    const Variable weight(FromVector<float>({2, 3}, {2}).To(dtype), true);
    const Variable y = ops::BatchNormEval(x, Zeros({2}, dtype), Full({2}, 4, dtype), weight, {}, 0);
    Backward({y}, {FromVector<float>({1, 2, 3, 4, 5, 6}, {3, 2}).To(dtype)});
    EXPECT_EQ(ToVector<float>(x.grad().To(DType::kF32)), (std::vector<float>{1, 3, 3, 6, 5, 9}));
    EXPECT_TRUE(std::isnan(ToVector<float>(weight.grad().To(DType::kF32))[0]));
  }
}

TEST(BatchNorm, RunningStatisticsAreUnbiased) {
  Tensor mean = Zeros({1}), var = Full({1}, 1);
  ops::UpdateRunningStatistics(Full({1}, 4), Full({1}, 3), 4, 0.1, mean, var);
  EXPECT_FLOAT_EQ(static_cast<float>(mean.Item()), 0.4f);
  EXPECT_FLOAT_EQ(static_cast<float>(var.Item()), 0.9f + 0.1f * 4);
}

// PyTorch's: nothing comes out, parameters get zeros, running statistics stay.
TEST(BatchNorm, TakesABatchOfNothing) {
  const Variable x(Zeros({0, 4, 4, 2}), true), weight(Full({2}, 3), true), bias(Zeros({2}), true);
  const auto result = ops::BatchNormTrain(x, weight, bias, 0.0);
  EXPECT_EQ(result.y.shape(), x.shape());
  EXPECT_EQ(result.count, 0);
  Backward({result.y}, {Zeros({0, 4, 4, 2})});
  EXPECT_EQ(x.grad().shape(), x.shape());
  EXPECT_EQ(ToVector<float>(weight.grad()), (std::vector<float>{0, 0}));
  EXPECT_EQ(ToVector<float>(bias.grad()), (std::vector<float>{0, 0}));
  Tensor mean = Full({2}, 4), var = Full({2}, 7);
  ops::UpdateRunningStatistics(result.mean, result.var, result.count, 0.1, mean, var);
  EXPECT_EQ(ToVector<float>(mean), (std::vector<float>{4, 4}));
  EXPECT_EQ(ToVector<float>(var), (std::vector<float>{7, 7}));
}

TEST(BatchNorm, NothingMergesAsNothing) {
  const Tensor none_mean = Zeros({1}, DType::kF64), none_var = Full({1}, 1, DType::kF64);
  Tensor mean = Zeros({1}, DType::kF64), var = Full({1}, 1, DType::kF64);
  ops::MergeStatistics(none_mean, none_var, 0, mean, var, 0);
  ops::MergeStatistics(Full({1}, 5, DType::kF64), Full({1}, 2, DType::kF64), 3, mean, var, 0);
  ops::MergeStatistics(none_mean, none_var, 0, mean, var, 3);
  EXPECT_EQ(mean.Item(), 5);
  EXPECT_EQ(var.Item(), 2);
}

TEST(BatchNorm, BadInputIsNamed) {
  EXPECT_THROW(ops::BatchNormTrain(Variable(Zeros({1, 3})), {}, {}), BadInput);
  EXPECT_THROW(ops::BatchNormTrain(Variable(Zeros({3})), {}, {}), BadInput);
  const Variable x(Zeros({4, 3}));
  EXPECT_EQ(testing::ErrorOf([&] { ops::BatchNormTrain(x, Variable(Zeros({2})), {}); }),
            "[batch_norm] input (4, 3) has 3 channels, its last dimension, weight has shape (2)");
  EXPECT_EQ(
      testing::ErrorOf([&] { ops::BatchNormTrain(x, Variable(Zeros({3}, DType::kF64)), {}); }),
      "[batch_norm] weight must be f32 for an input of f32, got f64");
  EXPECT_THROW(
      ops::BatchNormTrain(Variable(Zeros({4, 3})), {}, {}, 1e-5, {}, Variable(Zeros({4, 2}))),
      BadInput);
}

}  // namespace
}  // namespace torus
