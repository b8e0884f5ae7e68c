#include "ops/loss/linear_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/backward.h"
#include "ops/loss/cross_entropy.h"
#include "ops/loss/kernels.h"
#include "ops/matmul/linear.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::ops {
namespace {

using testing::RandomLeaf;
using testing::TransposedLeaf;
using Variables = std::vector<Variable>;

Variable Classes(const std::vector<int64_t>& values, const Shape& shape) {
  return Variable(FromVector(values, shape));
}

testing::CheckedFunction LossOf(const Variable& target,
                                const LinearCrossEntropyOptions& options = {}) {
  return [=](const Variables& in) {
    const Variable there(target.data().To(in[0].data().device()));
    return Variables{
        LinearCrossEntropy(in[0], in[1], in.size() > 2 ? in[2] : Variable(), there, options)};
  };
}

GRADIENT_CASE(linear_cross_entropy, Mean) {
  Check(LossOf(Classes({2, 0, 4, 1, 1, 2}, {2, 3}), {.ignore_index = 1}),
        {RandomLeaf({2, 3, 4}), RandomLeaf({5, 4}, 1)});
}
GRADIENT_CASE(linear_cross_entropy, Bias) {
  Check(LossOf(Classes({2, 0, 4, 1, 1, 2}, {2, 3}), {.ignore_index = 1}),
        {RandomLeaf({2, 3, 4}), RandomLeaf({5, 4}, 1), RandomLeaf({5}, 2)});
}
GRADIENT_CASE(linear_cross_entropy, SumOfViews) {
  Check(LossOf(Classes({2, 0, 3}, {3}), {.reduction = LossReduction::kSum}),
        {TransposedLeaf({3, 4}), TransposedLeaf({5, 4}, 1)});
}
GRADIENT_CASE(linear_cross_entropy, OneSample) {
  Check(LossOf(Classes({1}, {})), {RandomLeaf({4}), RandomLeaf({3, 4}, 1)});
}
GRADIENT_CASE(linear_cross_entropy, Nothing) {
  Check(LossOf(Classes({}, {0}), {.reduction = LossReduction::kSum}),
        {RandomLeaf({0, 4}), RandomLeaf({3, 4}, 1), RandomLeaf({3}, 2)});
}

TEST(LinearCrossEntropy, F32AgreesWithF64OnOddShapes) {
  testing::CheckTwins([](testing::OddShapes& shapes) {
    const int64_t rows = shapes.Size(40), width = shapes.Size(20), classes = shapes.Size(150);
    return testing::Twin{.function =
                             [](const Variables& in) {
                               return Variables{LinearCrossEntropy(in[0], in[1], in[2], in[3])};
                             },
                         .inputs = {shapes.Normal({rows, width}), shapes.Normal({classes, width}),
                                    shapes.Normal({classes}), shapes.Indices({rows}, classes)},
                         .terms = rows + classes + width,
                         .gradient_terms = rows + classes + width,
                         // Logits of some five deviations.
                         .magnitude = 5 * std::sqrt(static_cast<double>(width))};
  });
}

// 600 rows of 2^16 classes are two chunks.
TEST(LinearCrossEntropy, ChunksAgreeWithTheComposedLoss) {
  constexpr int64_t kRows = 600, kClasses = 1 << 16, kWidth = 2;
  const auto leaf = [](const Shape& shape, uint64_t seed) {
    return Variable(RandomLeaf(shape, seed).data().To(DType::kF32), true);
  };
  Variable x = leaf({kRows, kWidth}, 0), w = leaf({kClasses, kWidth}, 1), b = leaf({kClasses}, 2);
  std::vector<int64_t> numbers(kRows);
  for (int64_t r = 0; r < kRows; ++r) numbers[r] = r % 7 == 0 ? -100 : r * 97;
  const Variable target = Classes(numbers, {kRows});
  const auto gradients = [&](const Variable& loss) {
    std::vector<std::vector<float>> all;
    for (Variable* v : {&x, &w, &b}) v->ZeroGrad();
    Backward({loss});
    for (const Variable* v : {&x, &w, &b}) all.push_back(ToVector<float>(v->grad()));
    return all;
  };
  const Variable fused = LinearCrossEntropy(x, w, b, target);
  const Variable composed = CrossEntropy(Linear(x, w, b), target);
  EXPECT_NEAR(fused.data().Item(), composed.data().Item(),
              testing::Tolerance(DType::kF32, kClasses, composed.data().Item()));
  const auto got = gradients(fused), want = gradients(composed);
  // Gradients are sums over classes or rows of at most a few times 1 / 514.
  const double tolerance = testing::Tolerance(DType::kF32, kRows, 0.02);
  for (size_t v = 0; v < want.size(); ++v)
    for (size_t i = 0; i < want[v].size(); ++i)
      ASSERT_NEAR(got[v][i], want[v][i], tolerance) << "input " << v << ", element " << i;
}

// The loss, and the gradients of hidden, weight and bias, where the problem's tensors lie.
std::vector<std::vector<double>> Solve(const LinearClassProblem& p) {
  const Device device = p.hidden.device();
  const auto like = [&](const Tensor& t) { return Tensor(t.shape(), t.dtype(), device); };
  LinearClassGradients gradients{like(p.hidden), like(p.weight), like(p.bias)};
  Tensor loss({}, p.hidden.dtype(), device);
  kernels::LinearCrossEntropy(p, loss, gradients);
  std::vector<std::vector<double>> all;
  for (const Tensor& t : {loss, gradients.hidden, gradients.weight, gradients.bias})
    all.push_back(ToVector<double>(t));
  return all;
}

// In chunks of one row, of three and of all 11, one of which is ignored.
TEST(LinearCrossEntropy, ChunksOnAGpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  const Tensor x = RandomLeaf({11, 4}).data(), w = RandomLeaf({70, 4}, 1).data();
  const Tensor bias = RandomLeaf({70}, 2).data();
  const Tensor targets = FromVector<int64_t>({5, 0, 69, 1, 1, 7, -100, 8, 9, 1, 3}, {11});
  const auto there = [](const Tensor& t) { return t.To(testing::kFirstGpu); };
  for (const bool mean : {false, true}) {
    const auto want = Solve({x, w, bias, {targets}, mean});
    for (const int64_t chunk : {70, 250, 1000}) {
      const auto got = Solve({there(x), there(w), there(bias), {there(targets)}, mean, chunk});
      for (size_t v = 0; v < want.size(); ++v)
        for (size_t i = 0; i < want[v].size(); ++i)
          ASSERT_NEAR(got[v][i], want[v][i], testing::Tolerance(DType::kF64, 70, 50))
              << "chunk " << chunk << ", result " << v << ", element " << i;
    }
  }
}

// Rows of several packs a thread, with an end that is no whole pack, among whose logits are
// infinities and NaN: the same numbers as on the CPU, or NaN where they are NaN.
TEST(LinearCrossEntropy, UnusualLogitsOnAGpu) {
  if (!testing::HasGpu()) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double unusual : {kInf, -kInf, std::nan(""), 900.0, -900.0})
    for (const int64_t classes : {1, 7, 1029, 1030}) {
      const Tensor x = Full({2, 1}, 1, DType::kF64), w = RandomLeaf({classes, 1}).data();
      Tensor bias = Zeros({classes}, DType::kF64);
      bias.mutable_data<double>()[classes / 2] = unusual;
      const ClassTargets targets{FromVector<int64_t>({0, classes / 2}, {2})};
      const auto there = [](const Tensor& t) { return t.To(testing::kFirstGpu); };
      const auto want = Solve({x, w, bias, targets, true});
      const auto got = Solve({there(x), there(w), there(bias), {there(targets.numbers)}, true});
      for (size_t v = 0; v < want.size(); ++v)
        for (size_t i = 0; i < want[v].size(); ++i) {
          const double a = got[v][i], b = want[v][i];
          if (a == b || (std::isnan(a) && std::isnan(b))) continue;
          ASSERT_NEAR(a, b, testing::Tolerance(DType::kF64, classes, 900))
              << unusual << " among " << classes << ", result " << v << ", element " << i;
        }
    }
}

TEST(LinearCrossEntropy, MeanOverNothingIsNotANumber) {
  const Variable x(Full({2, 3}, 1)), w(Full({4, 3}, 1));
  EXPECT_TRUE(std::isnan(LinearCrossEntropy(x, w, {}, Classes({-100, -100}, {2})).data().Item()));
}

TEST(LinearCrossEntropy, RefusesWhatDoesNotFit) {
  const Variable x(Zeros({2, 3})), w(Zeros({4, 3})), t = Classes({0, 3}, {2});
  EXPECT_THROW(LinearCrossEntropy(x, Variable(Zeros({4, 2})), {}, t), BadInput);
  EXPECT_THROW(LinearCrossEntropy(x, Variable(Zeros({4, 3}, DType::kF64)), {}, t), BadInput);
  EXPECT_THROW(LinearCrossEntropy(x, w, Variable(Zeros({3})), t), BadInput);
  EXPECT_THROW(LinearCrossEntropy(x, w, Variable(Zeros({4}, DType::kF64)), t), BadInput);
  EXPECT_THROW(LinearCrossEntropy(x, w, {}, Classes({0, 4}, {2})), BadInput);
  EXPECT_THROW(LinearCrossEntropy(x, w, {}, Classes({0, 3}, {2, 1})), BadInput);
  EXPECT_THROW(LinearCrossEntropy(x, w, {}, t, {.reduction = LossReduction::kNone}), BadInput);
}

}  // namespace
}  // namespace torus::ops
