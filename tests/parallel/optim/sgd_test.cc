#include "parallel/optim/sgd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"
#include "tests/parallel/optim/parameters.h"
#include "tests/testing/tolerance.h"
#include "tests/testing/twins.h"

namespace torus::parallel {
namespace {

// The formulas of torch.optim.SGD, in f64 and one element at a time.
void PlainStep(double gradient, const SgdOptions& o, double lr, bool first, double& parameter,
               double& buffer) {
  double d = (o.maximize ? -gradient : gradient) + o.weight_decay * parameter;
  if (o.momentum != 0) {
    buffer = first ? d : o.momentum * buffer + (1 - o.dampening) * d;
    d = o.nesterov ? d + o.momentum * buffer : buffer;
  }
  parameter -= lr * o.lr_scale * d;
}

SgdOptions RandomOptions(const RandomStream& random, uint64_t at) {
  SgdOptions o{.lr_scale = 2 * random.Uniform64(at),
               .weight_decay = 0.1 * random.Uniform64(at + 1)};
  o.maximize = random.Below(at + 6, 2) == 0;
  if (random.Below(at + 2, 4) == 0) return o;
  o.momentum = random.Uniform64(at + 3);
  o.nesterov = o.momentum > 0 && random.Below(at + 4, 2) == 0;
  if (!o.nesterov) o.dampening = random.Uniform64(at + 5);
  return o;
}

std::vector<double> BufferOf(const Sgd& sgd, int64_t count) {
  const std::vector<NamedTensor> state = sgd.State();
  if (state.empty()) return std::vector<double>(count, 0.0);
  return ToVector<double>(state[0].value.To(DType::kF64));
}

// One step from wherever the optimizer is, beside the plain one from the same values. Normal values
// stay below 6 here; a buffer is a sum of at most three gradients with decay, a step at most twice
// that.
template <class T>
void ExpectPlainStep(Sgd& sgd, NamedVariable& parameter, const SgdOptions& options, uint64_t seed) {
  const int64_t count = parameter.value.numel();
  SetNormalGradient<T>(parameter, seed);
  std::vector<T> gradient = ToVector<T>(parameter.value.grad());
  std::vector<T> before = ToVector<T>(parameter.value.data());
  std::vector<double> buffer = BufferOf(sgd, count);
  const bool first = sgd.State().empty();
  sgd.Step(0.3);
  const std::vector<T> after = ToVector<T>(parameter.value.data());
  const std::vector<double> new_buffer = BufferOf(sgd, count);
  const double tolerance = testing::Tolerance(kDTypeOf<T>, 1, 40);
  for (int64_t i = 0; i < count; ++i) {
    double p = before[i], b = buffer[i];
    PlainStep(gradient[i], options, 0.3, first, p, b);
    ASSERT_NEAR(after[i], p, tolerance) << "element " << i << " of " << count;
    ASSERT_NEAR(new_buffer[i], b, tolerance) << "buffer element " << i << " of " << count;
  }
}

TEST(Sgd, AgreesWithThePlainOneOn200OddShapesAtEveryVectorWidth) {
  testing::ForEachVectorWidth([] {
    testing::OddShapes shapes(1);
    const RandomStream random({.seed = 2});
    for (uint64_t n = 0; n < 200; ++n) {
      const SgdOptions options = RandomOptions(random, 100 * n);
      NamedVariable parameter = NormalParameter("p", shapes.Size(300), n);
      Sgd sgd({parameter}, options);
      for (uint64_t step = 0; step < 3; ++step)
        ASSERT_NO_FATAL_FAILURE(ExpectPlainStep<float>(sgd, parameter, options, 1000 * n + step));
    }
  });
}

TEST(Sgd, F64IsAsPlain) {
  const SgdOptions options{.momentum = 0.9, .weight_decay = 0.01, .nesterov = true};
  NamedVariable parameter = NormalParameter<double>("p", 101, 1);
  Sgd sgd({parameter}, options);
  for (uint64_t step = 0; step < 3; ++step)
    ASSERT_NO_FATAL_FAILURE(ExpectPlainStep<double>(sgd, parameter, options, step));
}

// False for the two instruction sets that Highway knows below the floor of x86-64-v3; no program of
// ours runs on them.
bool HasFusedMultiplyAdd() {
  return (hwy::SupportedTargets() & ~int64_t{HWY_SSE4 | HWY_SSSE3 | HWY_EMU128}) != 0;
}

TEST(Sgd, SameBitsWhateverTheTeamAndTheVectorWidth) {
  const auto make = [](const std::vector<NamedVariable>& parameters) {
    return std::make_unique<Sgd>(parameters, SgdOptions{.momentum = 0.9, .weight_decay = 1e-4});
  };
  ExpectSameBitsWhateverTheTeamAndTheVectorWidth(make, HasFusedMultiplyAdd);
}

TEST(Sgd, AParameterWithoutGradientIsSkipped) {
  NamedVariable with = NormalParameter("with", 5, 1), without = NormalParameter("without", 5, 2);
  const std::vector<float> before = ToVector<float>(without.value.data());
  const uint64_t version = without.value.data().version();
  Sgd sgd({with, without}, {.momentum = 0.9, .weight_decay = 0.1});
  SetNormalGradient(with, 3);
  sgd.Step(0.1);
  EXPECT_EQ(ToVector<float>(without.value.data()), before);
  EXPECT_EQ(without.value.data().version(), version);
  ASSERT_EQ(sgd.State().size(), 1u);
  EXPECT_EQ(sgd.State()[0].name, "with.momentum_buffer");

  // Its first step comes later and starts its buffer then, undamped.
  SetNormalGradient(without, 4);
  sgd.Step(0.1);
  ASSERT_EQ(sgd.State().size(), 2u);
}

TEST(Sgd, GroupsHaveTheirOwnOptions) {
  NamedVariable a{"a", Leaf<float>({1, 2})}, b{"b", Leaf<float>({1, 2})};
  Sgd sgd({{{a}, {.lr_scale = 2}}, {{b}, {.weight_decay = 0.5}}});
  for (NamedVariable* p : {&a, &b}) p->value.SetGrad(FromVector<float>({1, 1}, {2}));
  sgd.Step(0.25);
  EXPECT_EQ(ToVector<float>(a.value.data()), (std::vector<float>{0.5f, 1.5f}));
  EXPECT_EQ(ToVector<float>(b.value.data()), (std::vector<float>{0.625f, 1.5f}));
  ASSERT_EQ(sgd.parameters().size(), 2u);
  sgd.ZeroGrad();
  EXPECT_FALSE(a.value.grad().defined());
}

TEST(Sgd, GradientScaleActsBeforeDecayAndLeavesTheGradient) {
  NamedVariable p{"p", Leaf<float>({2})};
  Sgd sgd({p}, {.weight_decay = 0.5});
  p.value.SetGrad(FromVector<float>({4}, {1}));
  sgd.Step(1, 0.25);
  EXPECT_EQ(ToVector<float>(p.value.data()), (std::vector<float>{0}));  // 2 - (4 / 4 + 2 / 2)
  EXPECT_EQ(ToVector<float>(p.value.grad()), (std::vector<float>{4}));
}

TEST(Sgd, StateRestoredGoesOnWithTheSameBits) {
  const SgdOptions options{.momentum = 0.9, .dampening = 0.1, .weight_decay = 1e-3};
  NamedVariable p = NormalParameter("p", 33, 1);
  Sgd sgd({p}, options);
  EXPECT_TRUE(sgd.State().empty());
  GoOn(sgd, p, 0, 3);
  NamedVariable q{"p", Variable(p.value.data().Clone(), true)};
  Sgd restored({q}, options);
  restored.LoadState(sgd.State());
  EXPECT_EQ(GoOn(restored, q, 3, 4), GoOn(sgd, p, 3, 4));
  restored.LoadState({});
  EXPECT_TRUE(restored.State().empty());
}

TEST(Sgd, RefusesStateThatIsNotItsOwn) {
  NamedVariable p = NormalParameter("p", 3, 1);
  Sgd sgd({p}, {.momentum = 0.9});
  GoOn(sgd, p, 0, 1);
  const std::vector<float> before = ToVector<float>(sgd.State()[0].value);
  EXPECT_THROW(sgd.LoadState({{"q.momentum_buffer", Zeros({3})}}), BadInput);
  EXPECT_THROW(sgd.LoadState({{"p.exp_avg", Zeros({3})}}), BadInput);
  EXPECT_THROW(sgd.LoadState({{"p.momentum_buffer", Zeros({4})}}), BadInput);
  EXPECT_THROW(sgd.LoadState({{"p.momentum_buffer", Zeros({3}, DType::kF64)}}), BadInput);
  EXPECT_THROW(
      sgd.LoadState({{"p.momentum_buffer", Zeros({3})}, {"p.momentum_buffer", Zeros({3})}}),
      BadInput);
  EXPECT_THROW(sgd.LoadState({{"p.momentum_buffer", Zeros({3})}, {"q.x", Zeros({3})}}), BadInput);
  EXPECT_EQ(ToVector<float>(sgd.State()[0].value), before);
}

TEST(Sgd, RefusesBadOptionsAndParameters) {
  const NamedVariable p = NormalParameter("p", 3, 1);
  EXPECT_THROW(Sgd({p}, {.momentum = -0.1}), BadInput);
  EXPECT_THROW(Sgd({p}, {.weight_decay = -1}), BadInput);
  EXPECT_THROW(Sgd({p}, {.lr_scale = std::nan("")}), BadInput);
  EXPECT_THROW(Sgd({p}, {.nesterov = true}), BadInput);
  EXPECT_THROW(Sgd({p}, {.momentum = 0.9, .dampening = 0.1, .nesterov = true}), BadInput);
  EXPECT_THROW(Sgd({p, p}, SgdOptions{}), BadInput);
  EXPECT_THROW(Sgd({{"half", Variable(Zeros({2}, DType::kBF16), true)}}, SgdOptions{}), BadInput);
  Sgd sgd({p}, SgdOptions{});
  EXPECT_THROW(sgd.Step(-1), BadInput);
  EXPECT_THROW(sgd.Step(std::nan("")), BadInput);
}

TEST(Sgd, ChangingAParameterBumpsItsVersion) {
  NamedVariable p = NormalParameter("p", 3, 1);
  const uint64_t before = p.value.data().version();
  Sgd sgd({p}, SgdOptions{});
  GoOn(sgd, p, 0, 1);
  EXPECT_GT(p.value.data().version(), before);
}

}  // namespace
}  // namespace torus::parallel
