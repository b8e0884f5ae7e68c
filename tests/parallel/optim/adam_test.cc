#include "parallel/optim/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"
#include "tests/parallel/optim/parameters.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

struct Moments {
  double mean = 0, variance = 0, largest = 0;
};

// The formulas of torch.optim.Adam and AdamW, in f64 and one element at a time.
double PlainStep(double p, double gradient, const AdamOptions& o, double lr, double step,
                 Moments& s) {
  double g = o.maximize ? -gradient : gradient;
  lr *= o.lr_scale;
  if (o.decoupled_decay)
    p *= 1 - lr * o.weight_decay;
  else
    g += o.weight_decay * p;
  s.mean = o.beta1 * s.mean + (1 - o.beta1) * g;
  s.variance = o.beta2 * s.variance + (1 - o.beta2) * g * g;
  s.largest = std::max(s.largest, s.variance);
  const double second = o.amsgrad ? s.largest : s.variance;
  const double denominator = std::sqrt(second / (1 - std::pow(o.beta2, step))) + o.eps;
  return p - lr * (s.mean / (1 - std::pow(o.beta1, step))) / denominator;
}

AdamOptions RandomOptions(const RandomStream& random, uint64_t at) {
  return {.lr_scale = 2 * random.Uniform64(at),
          .beta1 = random.Uniform64(at + 1),
          .beta2 = 0.9 + 0.0999 * random.Uniform64(at + 2),
          .eps = 1e-2 * random.Uniform64(at + 3),
          .weight_decay = random.Below(at + 4, 2) == 0 ? 0 : 0.1 * random.Uniform64(at + 5),
          .decoupled_decay = random.Below(at + 6, 2) == 0,
          .amsgrad = random.Below(at + 7, 2) == 0,
          .maximize = random.Below(at + 8, 2) == 0};
}

constexpr double kRate = 0.1;

// Three steps beside the plain ones. A step's size is at most lr_scale * kRate / sqrt(1 - beta2),
// about 20 of it in all; the moments are sums of three terms.
template <class T>
void ExpectPlainSteps(const AdamOptions& options, int64_t count, uint64_t seed) {
  NamedVariable parameter = NormalParameter<T>("p", count, seed);
  Adam adam({parameter}, options);
  const std::vector<T> start = ToVector<T>(parameter.value.data());
  std::vector<double> want(start.begin(), start.end());
  std::vector<Moments> moments(count);
  for (int step = 1; step <= 3; ++step) {
    SetNormalGradient<T>(parameter, 10 * seed + step);
    const std::vector<T> gradient = ToVector<T>(parameter.value.grad());
    adam.Step(kRate);
    const std::vector<T> got = ToVector<T>(parameter.value.data());
    for (int64_t i = 0; i < count; ++i) {
      want[i] = PlainStep(want[i], gradient[i], options, kRate, step, moments[i]);
      // A mean that nearly cancels keeps its rounding, and is divided by as small a deviation; nine
      // roundings a step, of a value and a step.
      ASSERT_NEAR(got[i], want[i], testing::Tolerance(kDTypeOf<T>, 9 * step, 20))
          << "element " << i << " of " << count << " after step " << step;
    }
  }
}

TEST(Adam, AgreesWithThePlainOneOn200OddShapesAtEveryVectorWidth) {
  testing::ForEachVectorWidth([] {
    testing::OddShapes shapes(1);
    const RandomStream random({.seed = 2});
    for (uint64_t n = 0; n < 200; ++n)
      ASSERT_NO_FATAL_FAILURE(
          ExpectPlainSteps<float>(RandomOptions(random, 100 * n), shapes.Size(300), n));
  });
}

TEST(Adam, F64IsAsPlain) {
  const RandomStream random({.seed = 3});
  for (uint64_t n = 0; n < 20; ++n)
    ASSERT_NO_FATAL_FAILURE(ExpectPlainSteps<double>(RandomOptions(random, 100 * n), 37, n));
}

TEST(Adam, SameBitsWhateverTheTeamAndTheVectorWidth) {
  const auto make = [](const std::vector<NamedVariable>& parameters) {
    AdamOptions options = AdamWOptions();
    options.amsgrad = true;
    return std::make_unique<Adam>(parameters, options);
  };
  ExpectSameBitsWhateverTheTeamAndTheVectorWidth(make, [] { return true; });
}

TEST(Adam, AParameterWithoutGradientIsSkippedAndCountsItsOwnSteps) {
  NamedVariable with = NormalParameter("with", 5, 1), late = NormalParameter("late", 5, 2);
  const std::vector<float> before = ToVector<float>(late.value.data());
  Adam adam({with, late}, AdamWOptions());
  SetNormalGradient(with, 3);
  adam.Step(0.1);
  EXPECT_EQ(ToVector<float>(late.value.data()), before);
  ASSERT_EQ(adam.State().size(), 3u);
  SetNormalGradient(late, 4);
  adam.Step(0.1);
  ASSERT_EQ(adam.State().size(), 6u);
  EXPECT_EQ(adam.State()[2].name, "with.step");
  EXPECT_EQ(adam.State()[2].value.Item(), 2);
  EXPECT_EQ(adam.State()[5].name, "late.step");
  EXPECT_EQ(adam.State()[5].value.Item(), 1);
}

TEST(Adam, GroupsHaveTheirOwnOptions) {
  NamedVariable a{"a", Leaf<float>({1, 2})}, b{"b", Leaf<float>({1, 2})};
  Adam adam({{{a}, {.lr_scale = 2, .eps = 0}},
             {{b}, {.eps = 0, .weight_decay = 0.5, .decoupled_decay = true}}});
  for (NamedVariable* p : {&a, &b}) p->value.SetGrad(FromVector<float>({4, -4}, {2}));
  adam.Step(0.25);
  // The first step has the rate's size, whatever the gradient's.
  EXPECT_NEAR(a.value.data().data<float>()[0], 0.5f, 1e-6);
  EXPECT_NEAR(a.value.data().data<float>()[1], 2.5f, 1e-6);
  EXPECT_NEAR(b.value.data().data<float>()[0], 1 - 0.125f - 0.25f, 1e-6);
  EXPECT_NEAR(b.value.data().data<float>()[1], 2 - 0.25f + 0.25f, 1e-6);
}

TEST(Adam, GradientScaleActsOnTheGradientAndLeavesIt) {
  NamedVariable a{"a", Leaf<float>({2})}, b{"b", Leaf<float>({2})};
  Adam scaled({a}, {.eps = 1}), plain({b}, {.eps = 1});
  a.value.SetGrad(FromVector<float>({4}, {1}));
  b.value.SetGrad(FromVector<float>({1}, {1}));
  scaled.Step(1, 0.25);
  plain.Step(1);
  EXPECT_EQ(a.value.data().Item(), b.value.data().Item());
  EXPECT_EQ(a.value.grad().Item(), 4);
}

TEST(Adam, StateRestoredGoesOnWithTheSameBits) {
  const AdamOptions options{.weight_decay = 1e-3, .amsgrad = true};
  NamedVariable p = NormalParameter("p", 33, 1);
  Adam adam({p}, options);
  EXPECT_TRUE(adam.State().empty());
  GoOn(adam, p, 0, 3);
  NamedVariable q{"p", Variable(p.value.data().Clone(), true)};
  Adam restored({q}, options);
  restored.LoadState(adam.State());
  EXPECT_EQ(GoOn(restored, q, 3, 4), GoOn(adam, p, 3, 4));
  restored.LoadState({});
  EXPECT_TRUE(restored.State().empty());
}

TEST(Adam, RefusesStateThatIsNotItsOwn) {
  NamedVariable p = NormalParameter("p", 3, 1);
  Adam adam({p}, AdamWOptions());
  GoOn(adam, p, 0, 1);
  const std::vector<float> before = ToVector<float>(adam.State()[0].value);
  const NamedTensor mean{"p.exp_avg", Zeros({3})}, variance{"p.exp_avg_sq", Zeros({3})};
  const NamedTensor step{"p.step", Zeros({})};
  EXPECT_THROW(adam.LoadState({mean, variance}), BadInput);
  EXPECT_THROW(adam.LoadState({step}), BadInput);
  EXPECT_THROW(adam.LoadState({mean, variance, {"p.step", Zeros({3})}}), BadInput);
  EXPECT_THROW(adam.LoadState({mean, variance, step, {"p.max_exp_avg_sq", Zeros({3})}}), BadInput);
  EXPECT_THROW(adam.LoadState({mean, variance, step, {"q.step", Zeros({})}}), BadInput);
  EXPECT_THROW(adam.LoadState({mean, {"p.exp_avg_sq", Zeros({4})}, step}), BadInput);
  EXPECT_EQ(ToVector<float>(adam.State()[0].value), before);
  adam.LoadState({step, variance, mean});
  EXPECT_EQ(adam.State()[2].value.Item(), 0);
}

TEST(Adam, RefusesBadOptionsAndRates) {
  const NamedVariable p = NormalParameter("p", 3, 1);
  EXPECT_THROW(Adam({p}, {.beta1 = 1}), BadInput);
  EXPECT_THROW(Adam({p}, {.beta2 = -0.1}), BadInput);
  EXPECT_THROW(Adam({p}, {.eps = -1}), BadInput);
  EXPECT_THROW(Adam({p}, {.weight_decay = -1}), BadInput);
  EXPECT_THROW(Adam({p}, {.lr_scale = std::nan("")}), BadInput);
  Adam adam({p}, AdamOptions{});
  EXPECT_THROW(adam.Step(-1), BadInput);
  EXPECT_THROW(adam.Step(std::nan("")), BadInput);
}

}  // namespace
}  // namespace torus::parallel
