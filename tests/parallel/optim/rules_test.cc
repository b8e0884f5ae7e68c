// Adagrad, RMSprop, Lion, schedule-free AdamW and Muon against their formulas, one element at a
// time in f64; and what groups them or changes their rate. PyTorch's own numbers are cases of
// tools/replay (tests/golden/op_cases/optimizer.*).
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "parallel/optim/adagrad.h"
#include "parallel/optim/adam.h"
#include "parallel/optim/joint_optimizer.h"
#include "parallel/optim/lion.h"
#include "parallel/optim/lr_plateau.h"
#include "parallel/optim/muon.h"
#include "parallel/optim/rmsprop.h"
#include "parallel/optim/schedule_free.h"
#include "parallel/optim/sgd.h"
#include "runtime/error.h"
#include "runtime/io/safetensors.h"
#include "tests/parallel/optim/parameters.h"
#include "tests/testing/error_of.h"
#include "tests/testing/tolerance.h"

namespace torus::parallel {
namespace {

constexpr double kRate = 0.1;
constexpr int64_t kCount = 37;

// p behind step t (from 1) with gradient g; `state` starts as zeros.
using PlainStep = std::function<double(double p, double g, int t, double* state)>;

// Four steps beside the plain ones, in f32 and f64. Each step rounds about ten times, values up to
// `size`.
template <class T, class Make>
void ExpectPlain(const Make& make, const PlainStep& plain, double size) {
  NamedVariable p = NormalParameter<T>("p", kCount, 1);
  const auto optimizer = make(p);
  const std::vector<T> start = ToVector<T>(p.value.data());
  std::vector<double> want(start.begin(), start.end()), state(3 * kCount);
  for (int t = 1; t <= 4; ++t) {
    SetNormalGradient<T>(p, 10 + static_cast<uint64_t>(t));
    const std::vector<T> g = ToVector<T>(p.value.grad());
    optimizer->Step(kRate, 0.5);
    const std::vector<T> got = ToVector<T>(p.value.data());
    for (int64_t i = 0; i < kCount; ++i) {
      want[i] = plain(want[i], 0.5 * g[i], t, &state[3 * i]);
      ASSERT_NEAR(got[i], want[i], testing::Tolerance(kDTypeOf<T>, 10 * t, size))
          << "element " << i << " after step " << t;
    }
  }
}

template <class O, class Options>
void ExpectPlainInBoth(const Options& options, const PlainStep& plain, double size = 4) {
  const auto make = [&](const NamedVariable& p) {
    return std::make_unique<O>(std::vector{p}, options);
  };
  ExpectPlain<float>(make, plain, size);
  ExpectPlain<double>(make, plain, size);
}

TEST(Adagrad, IsItsFormula) {
  const AdagradOptions o{.lr_scale = 2,
                         .lr_decay = 0.1,
                         .weight_decay = 0.3,
                         .initial_accumulator_value = 0.5,
                         .maximize = true};
  ExpectPlainInBoth<Adagrad>(o, [&](double p, double g, int t, double* state) {
    g = -g + 0.3 * p;
    state[0] += g * g + (t == 1 ? 0.5 : 0);
    return p - 2 * kRate / (1 + (t - 1) * 0.1) * g / (std::sqrt(state[0]) + o.eps);
  });
}

// A mean square that nearly cancels with the square of the mean would leave rounding alone, so eps
// is large.
TEST(Rmsprop, IsItsFormula) {
  for (const bool centered : {false, true})
    for (const double momentum : {0.0, 0.7}) {
      const RmspropOptions o{.alpha = 0.8,
                             .eps = 0.1,
                             .weight_decay = 0.3,
                             .momentum = momentum,
                             .centered = centered};
      ExpectPlainInBoth<Rmsprop>(
          o,
          [&](double p, double g, int, double* state) {
            g += 0.3 * p;
            state[0] = 0.8 * state[0] + 0.2 * g * g;
            state[1] = 0.8 * state[1] + 0.2 * g;
            const double square = state[0] - (centered ? state[1] * state[1] : 0);
            state[2] = momentum * state[2] + g / (std::sqrt(square) + 0.1);
            return p - kRate * state[2];
          },
          10);
    }
}

TEST(Lion, IsItsFormula) {
  const LionOptions o{.lr_scale = 0.5, .beta1 = 0.8, .beta2 = 0.4, .weight_decay = 0.3};
  ExpectPlainInBoth<Lion>(o, [&](double p, double g, int, double* state) {
    const double mixed = 0.8 * state[0] + 0.2 * g;
    state[0] = 0.4 * state[0] + 0.6 * g;
    return p * (1 - 0.5 * kRate * 0.3) - 0.5 * kRate * ((mixed > 0) - (mixed < 0));
  });
}

TEST(Lion, StaysWhereTheMixedGradientIsZeroAndPassesNaN) {
  NamedVariable p{"p", Leaf<float>({1, 2, 3})};
  Lion lion({p}, LionOptions{});
  p.value.SetGrad(FromVector<float>({0, NAN, -1e-30f}, {3}));
  lion.Step(0.25);
  const auto values = ToVector<float>(p.value.data());
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 3.25f);
}

// In the paper's form: x and z are kept, and y is made of them.
TEST(ScheduleFree, IsThePapersAlgorithm) {
  const ScheduleFreeOptions o{.beta1 = 0.8, .beta2 = 0.7, .eps = 0.01, .weight_decay = 0.3};
  const auto plain = [&](double y, double g, int t, double* state) {
    double &x = state[0], &z = state[1], &v = state[2];
    if (t == 1) x = z = y;
    v = 0.7 * v + 0.3 * g * g;
    z -= kRate * (g / (std::sqrt(v / (1 - std::pow(0.7, t))) + 0.01) + 0.3 * y);
    x += (z - x) / t;  // of equal weights
    return 0.2 * z + 0.8 * x;
  };
  ExpectPlainInBoth<ScheduleFreeAdamW>(o, plain);
}

TEST(ScheduleFree, WeighsStepsByTheSquareOfTheLargestRate) {
  NamedVariable p{"p", Leaf<double>({0.0})};
  ScheduleFreeAdamW optimizer({p}, {.beta1 = 0.5, .eps = 0});
  double x = 0, z = 0, sum = 0, largest = 0;
  for (const double rate : {0.125, 0.5, 0.25}) {
    p.value.SetGrad(Full({1}, 1, DType::kF64));
    optimizer.Step(rate);
    z -= rate;
    largest = std::max(largest, rate);
    sum += largest * largest;
    x += largest * largest / sum * (z - x);
    // The weights' sum is kept in f32.
    EXPECT_NEAR(ToVector<double>(p.value.data())[0], (x + z) / 2, 1e-7);
  }
  optimizer.Evaluate();
  EXPECT_NEAR(ToVector<double>(p.value.data())[0], x, 1e-7);
  EXPECT_THROW(optimizer.Step(0.1), BadInput) << "it evaluates";
  EXPECT_THROW(optimizer.State(), BadInput);
  optimizer.Evaluate();
  optimizer.Train();
  EXPECT_NEAR(ToVector<double>(p.value.data())[0], (x + z) / 2, 1e-7);
  EXPECT_THROW(ScheduleFreeAdamW({p}, {.beta1 = 0}), BadInput);
}

Variable Matrix(int64_t rows, int64_t columns, uint64_t seed) {
  return Variable(FromVector(Normal<float>(rows * columns, seed), {rows, columns}), true);
}

// With the identity for the orthogonal matrix a step is one of the momentum alone.
TEST(Muon, AddsTheDirectionOfItsMomentum) {
  for (const bool nesterov : {false, true}) {
    NamedVariable p{"p", Matrix(4, 2, 1)};
    std::vector<float> want = ToVector<float>(p.value.data());
    std::vector<double> buffer(8);
    Muon muon({p}, {.momentum = 0.8, .nesterov = nesterov, .weight_decay = 0.3},
              [](const Tensor& matrix) { return matrix; });
    for (int t = 1; t <= 3; ++t) {
      SetNormalGradient(p, static_cast<uint64_t>(t));
      const std::vector<float> g = ToVector<float>(p.value.grad());
      muon.Step(kRate);
      const std::vector<float> got = ToVector<float>(p.value.data());
      for (size_t i = 0; i < 8; ++i) {
        buffer[i] = 0.8 * buffer[i] + 0.2 * g[i];
        const double step = nesterov ? 0.2 * g[i] + 0.8 * buffer[i] : buffer[i];
        want[i] = static_cast<float>(want[i] * (1 - kRate * 0.3) - kRate * std::sqrt(2.0) * step);
        EXPECT_NEAR(got[i], want[i], testing::Tolerance(DType::kF32, 10 * t, 4)) << i;
      }
    }
  }
  const NamedVariable vector = NormalParameter("v", 3, 1);
  EXPECT_THROW(Muon({vector}, MuonOptions{}, [](const Tensor& m) { return m; }), BadInput);
  EXPECT_DOUBLE_EQ(MuonRateFactor(MuonRate::kOriginal, {2, 8}), 1);
  EXPECT_DOUBLE_EQ(MuonRateFactor(MuonRate::kSpectralUnclamped, {2, 8}), 0.5);
  EXPECT_DOUBLE_EQ(MuonRateFactor(MuonRate::kMatchRmsAdamw, {2, 16}), 0.8);
}

TEST(Muon, LeavesOtherParametersToAdamW) {
  const std::vector<NamedVariable> all{{"embed.weight", Matrix(3, 2, 1)},
                                       {"layer.weight", Matrix(2, 2, 2)},
                                       {"layer.bias", Leaf<float>({1, 2})}};
  const auto make = [&] {
    return MuonWithAdamW(all, {"embed.*"}, {}, AdamWOptions(),
                         [](const Tensor& matrix) { return matrix; });
  };
  const auto optimizer = make();
  std::vector<NamedVariable> others{{"embed.weight", Matrix(3, 2, 1)},
                                    {"layer.bias", Leaf<float>({1, 2})}};
  Adam adam(others, AdamWOptions());
  for (NamedVariable p : all) SetNormalGradient(p, 7);
  for (NamedVariable& p : others) SetNormalGradient(p, 7);
  optimizer->Step(0.1);
  adam.Step(0.1);
  EXPECT_EQ(ToVector<float>(all[0].value.data()), ToVector<float>(others[0].value.data()));
  EXPECT_EQ(ToVector<float>(all[2].value.data()), ToVector<float>(others[1].value.data()));
  const std::vector<NamedTensor> state = optimizer->State();
  EXPECT_EQ(state[0].name, "layer.weight.momentum_buffer");
  EXPECT_EQ(state[2].name, "embed.weight.exp_avg");
  EXPECT_EQ(optimizer->StateBytes(), 16u + 4 + 2 * (24 + 8) + 2 * 4);

  const auto again = make();
  again->LoadState(state);
  EXPECT_EQ(again->State().size(), state.size());
  std::vector<NamedTensor> wrong = state;
  wrong.back().value = Zeros({3});
  EXPECT_THROW(again->LoadState(wrong), BadInput);
  EXPECT_EQ(ToVector<float>(again->State()[0].value), ToVector<float>(state[0].value));
  // A state is that of the name before its last dot, not of what the name only begins with.
  for (const char* const name : {"head.weight.exp_avg", "layer.bias.more.exp_avg"}) {
    wrong.back() = {name, Zeros({3})};
    EXPECT_EQ(testing::ErrorOf([&] { again->LoadState(wrong); }),
              fmt::format("[joint_optimizer] state {} belongs to no parameter of it", name));
  }
}

// A run that is stopped and goes on has the bits of one that is not.
template <class O, class Options>
void ExpectResumes(const Options& options, const std::vector<std::string>& kinds) {
  NamedVariable whole = NormalParameter("p", 17, 1), half = NormalParameter("p", 17, 1);
  O all({whole}, options), first({half}, options);
  const std::vector<float> want = GoOn(all, whole, 0, 4);
  GoOn(first, half, 0, 2);
  std::vector<NamedTensor> state = first.State();
  std::vector<std::string> names;
  for (const NamedTensor& tensor : state) names.push_back(tensor.name.substr(2));
  EXPECT_EQ(names, kinds);
  O second({half}, options);
  second.LoadState(state);
  EXPECT_EQ(GoOn(second, half, 2, 2), want);
  state.erase(state.begin());
  EXPECT_THROW(second.LoadState(state), BadInput) << "a part of the state";
  EXPECT_EQ(first.StateBytes(), second.StateBytes());
}

TEST(Rules, ResumeFromTheirState) {
  ExpectResumes<Adagrad>(AdagradOptions{.initial_accumulator_value = 1}, {"sum", "step"});
  ExpectResumes<Rmsprop>(RmspropOptions{}, {"square_avg", "step"});
  ExpectResumes<Rmsprop>(RmspropOptions{.momentum = 0.5, .centered = true},
                         {"square_avg", "momentum_buffer", "grad_avg", "step"});
  ExpectResumes<Lion>(LionOptions{}, {"exp_avg", "step"});
  ExpectResumes<ScheduleFreeAdamW>(ScheduleFreeOptions{},
                                   {"z", "exp_avg_sq", "step", "weight_sum", "lr_max"});
}

TEST(Rules, SameBitsWhateverTheTeam) {
  const auto check = [](const auto& make) {
    ExpectSameBitsWhateverTheTeamAndTheVectorWidth(make, [] { return true; });
  };
  using Parameters = std::vector<NamedVariable>;
  check([](const Parameters& p) { return std::make_unique<Adagrad>(p, AdagradOptions{}); });
  check([](const Parameters& p) {
    return std::make_unique<Rmsprop>(p, RmspropOptions{.momentum = 0.9, .centered = true});
  });
  check([](const Parameters& p) { return std::make_unique<Lion>(p, LionOptions{}); });
  check([](const Parameters& p) {
    return std::make_unique<ScheduleFreeAdamW>(p, ScheduleFreeOptions{.weight_decay = 0.1});
  });
}

TEST(Rules, SkipParametersWithoutGradient) {
  NamedVariable with = NormalParameter("with", 5, 1), late = NormalParameter("late", 5, 2);
  const std::vector<float> before = ToVector<float>(late.value.data());
  Rmsprop rmsprop({with, late}, RmspropOptions{});
  SetNormalGradient(with, 3);
  rmsprop.Step(0.1);
  EXPECT_EQ(ToVector<float>(late.value.data()), before);
  EXPECT_EQ(rmsprop.State().size(), 2u);
}

TEST(Rules, RefuseOptionsOutOfRange) {
  const std::vector<NamedVariable> p{NormalParameter("p", 3, 1)};
  EXPECT_THROW(Adagrad(p, {.lr_decay = -1}), BadInput);
  EXPECT_THROW(Rmsprop(p, {.alpha = 1.5}), BadInput);
  EXPECT_THROW(Rmsprop(p, {.momentum = -0.1}), BadInput);
  EXPECT_THROW(Lion(p, {.beta2 = 1}), BadInput);
  EXPECT_THROW(Lion(p, LionOptions{}).Step(-0.1), BadInput);
}

TEST(Groups, MatchNamesByPatterns) {
  EXPECT_TRUE(Matches("layers.0.bias", "*.bias"));
  EXPECT_TRUE(Matches("layers.0.bias", "layers.?.bias"));
  EXPECT_TRUE(Matches("layers.0.bias", "layers.0.bias"));
  EXPECT_TRUE(Matches("a.bias.bias", "*.bias"));
  EXPECT_TRUE(Matches("abcabd", "*ab?"));
  EXPECT_TRUE(Matches("", "*"));
  EXPECT_TRUE(Matches("x", "*x*"));
  EXPECT_FALSE(Matches("bias", "*.bias"));
  EXPECT_FALSE(Matches("layers.0.bias", "layers.?"));
  EXPECT_FALSE(Matches("layers.0.bias", "bias"));
  EXPECT_FALSE(Matches("x", ""));
  EXPECT_FALSE(Matches("", "?"));
}

TEST(Groups, TakeWhatTheFirstPatternSays) {
  std::vector<NamedVariable> all;
  for (const char* name : {"body.weight", "body.bias", "head.weight", "head.bias"})
    all.push_back(NormalParameter(name, 2, 1));
  const std::vector<NamePattern> patterns{{.pattern = "*.bias", .weight_decay = 0},
                                          {.pattern = "head.*", .lr_scale = 10}};
  const auto groups = GroupsByName<SgdGroup>(all, SgdOptions{.weight_decay = 0.5}, patterns);
  ASSERT_EQ(groups.size(), 3u);
  ASSERT_EQ(groups[0].parameters.size(), 2u);
  EXPECT_EQ(groups[0].parameters[1].name, "head.bias");
  EXPECT_EQ(groups[0].options.weight_decay, 0);
  EXPECT_EQ(groups[0].options.lr_scale, 1);
  EXPECT_EQ(groups[1].parameters[0].name, "head.weight");
  EXPECT_EQ(groups[1].options.weight_decay, 0.5);
  EXPECT_EQ(groups[1].options.lr_scale, 10);
  EXPECT_EQ(groups[2].parameters[0].name, "body.weight");
  const auto use = [&](bool some) {
    return GroupsByName<LionGroup>(all, LionOptions{}, {{.pattern = "tail.*"}}, some);
  };
  EXPECT_EQ(testing::ErrorOf([&] { use(false); }),
            "[optimizer] pattern 'tail.*' matches none of 4 parameters, or only such as an earlier "
            "pattern matches; '*' stands for any characters, as in '*bias'");
  EXPECT_EQ(use(true).size(), 1u);
}

TEST(Plateau, GivesPyTorchsRates) {
  const SafetensorsFile file = ReadSafetensors("tests/golden/plateau.safetensors");
  const auto get = [&](const std::string& name) {
    for (const NamedTensor& tensor : file.tensors)
      if (tensor.name == name) return ToVector<double>(tensor.value);
    ADD_FAILURE() << name;
    return std::vector<double>();
  };
  const std::pair<std::string, PlateauOptions> cases[] = {
      {"min", {.patience = 2}},
      {"max", {.maximize = true, .factor = 0.5, .patience = 1, .threshold = 0.05}},
      {"abs", {.patience = 0, .threshold = 0.1, .relative = false, .cooldown = 3, .min_lr = 0.01}},
      {"abs_max", {.maximize = true, .patience = 0, .relative = false, .eps = 0.05}}};
  for (const auto& [name, options] : cases) {
    SCOPED_TRACE(name);
    ReduceLROnPlateau plateau(0.5, options);
    const std::vector<double> metrics = get(options.maximize ? "max_metrics" : "min_metrics");
    const std::vector<double> want = get(name);
    for (size_t i = 0; i < metrics.size(); ++i) {
      ReduceLROnPlateau resumed(1, options);
      resumed.LoadState(plateau.state());
      EXPECT_DOUBLE_EQ(plateau.Step(metrics[i]), want[i]) << i;
      EXPECT_DOUBLE_EQ(resumed.Step(metrics[i]), want[i]) << i;
    }
  }
  EXPECT_THROW(ReduceLROnPlateau(0.5, {.factor = 1}), BadInput);
  EXPECT_THROW(ReduceLROnPlateau(-0.5), BadInput);
}

}  // namespace
}  // namespace torus::parallel
