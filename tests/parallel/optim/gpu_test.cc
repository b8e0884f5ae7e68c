// Optimizers, norms and finite checks of parameters on a GPU, against the CPU's. Skips where there
// is no GPU: run it with --config=emulated_gpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "autograd/low_copy.h"
#include "parallel/optim/adagrad.h"
#include "parallel/optim/adam.h"
#include "parallel/optim/finite_gradients.h"
#include "parallel/optim/gradient_norm.h"
#include "parallel/optim/lion.h"
#include "parallel/optim/muon.h"
#include "parallel/optim/rmsprop.h"
#include "parallel/optim/round_all.h"
#include "parallel/optim/schedule_free.h"
#include "parallel/optim/sgd.h"
#include "runtime/stream.h"
#include "tests/parallel/optim/parameters.h"
#include "tests/testing/same_bits.h"
#include "tests/testing/tolerance.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

// Around the pieces that a block takes, and the threads of one.
const std::vector<int64_t> kSizes{1, 5, 255, 257, kNormBlock, kNormBlock + 1, 3 * kNormBlock - 7};

class OptimizerOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

template <class T>
std::vector<NamedVariable> Parameters(Device device) {
  std::vector<NamedVariable> all;
  for (size_t i = 0; i < kSizes.size(); ++i) {
    const std::string name = fmt::format("p{}", i);
    const NamedVariable one = NormalParameter<T>(name, kSizes[i], i);
    all.push_back({name, Variable(one.value.data().To(device), true)});
  }
  return all;
}

template <class T>
void SetGradients(std::vector<NamedVariable>& parameters, uint64_t seed) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i == 1 && seed == 1) continue;  // one that is skipped in a step
    Variable& p = parameters[i].value;
    p.SetGrad(FromVector(Normal<T>(p.numel(), seed * 100 + i), p.shape()).To(p.data().device()));
  }
}

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)>;

// The parameters' values after three steps, the second from a restored state of the other device.
template <class T>
std::vector<std::vector<T>> Train(const MakeOptimizer& make, Device device, Device other) {
  std::vector<NamedVariable> parameters = Parameters<T>(device);
  auto optimizer = make(parameters);
  for (uint64_t step = 0; step < 3; ++step) {
    for (NamedVariable& p : parameters) p.value.ZeroGrad();
    SetGradients<T>(parameters, step);
    optimizer->Step(0.1, step == 2 ? 0.5 : 1);
    std::vector<NamedTensor> state;
    for (const NamedTensor& t : optimizer->State())
      state.push_back({t.name, t.value.rank() == 0 ? t.value : t.value.To(other)});
    optimizer = make(parameters);
    optimizer->LoadState(state);
  }
  std::vector<std::vector<T>> values;
  for (const NamedVariable& p : parameters)
    values.push_back(ToVector<T>(p.value.data().To(Device{})));
  return values;
}

template <class T, class Options>
void ExpectTheBitsOfTheCpus(const std::vector<Options>& all) {
  for (const Options& options : all) {
    const MakeOptimizer make = [&](std::vector<NamedVariable> parameters) {
      return std::make_unique<T>(std::move(parameters), options);
    };
    EXPECT_EQ(Train<float>(make, kGpu, Device{}), Train<float>(make, Device{}, kGpu));
    EXPECT_EQ(Train<double>(make, kGpu, Device{}), Train<double>(make, Device{}, kGpu));
  }
}

TEST_F(OptimizerOnGpu, SgdHasTheBitsOfTheCpus) {
  ExpectTheBitsOfTheCpus<Sgd, SgdOptions>(
      {{},
       {.momentum = 0.9},
       {.momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1},
       {.momentum = 0.8, .weight_decay = 0.01, .nesterov = true},
       {.momentum = 0.9, .maximize = true}});
}

TEST_F(OptimizerOnGpu, AdamHasTheBitsOfTheCpus) {
  ExpectTheBitsOfTheCpus<Adam, AdamOptions>({{},
                                             AdamWOptions(),
                                             {.beta1 = 0.4, .weight_decay = 0.1},
                                             {.weight_decay = 0.1, .amsgrad = true},
                                             {.maximize = true}});
}

// Also where a restored state was the other device's: 8 bits pass through f32 unchanged.
TEST_F(OptimizerOnGpu, AdamWithNarrowStateHasTheBitsOfTheCpus) {
  for (const StateType type : {StateType::kBF16, StateType::k8Bit})
    for (const bool amsgrad : {false, true}) {
      const AdamOptions options{.weight_decay = 0.1, .amsgrad = amsgrad, .state = type};
      const MakeOptimizer make = [&](std::vector<NamedVariable> parameters) {
        return std::make_unique<Adam>(std::move(parameters), options);
      };
      EXPECT_EQ(Train<float>(make, kGpu, Device{}), Train<float>(make, Device{}, kGpu));
    }
}

TEST_F(OptimizerOnGpu, RulesHaveTheBitsOfTheCpus) {
  ExpectTheBitsOfTheCpus<Adagrad, AdagradOptions>({{.lr_decay = 0.1, .weight_decay = 0.1}});
  ExpectTheBitsOfTheCpus<Rmsprop, RmspropOptions>(
      {{}, {.weight_decay = 0.1, .momentum = 0.9, .centered = true}});
  ExpectTheBitsOfTheCpus<Lion, LionOptions>({{.beta1 = 0.4, .weight_decay = 0.1}});
  ExpectTheBitsOfTheCpus<ScheduleFreeAdamW, ScheduleFreeOptions>({{.weight_decay = 0.1}});
}

TEST_F(OptimizerOnGpu, MuonAndTheAverageOfScheduleFreeHaveTheBitsOfTheCpus) {
  const auto on = [](Device device) {
    const NamedVariable flat = NormalParameter<float>("p", 600, 1);
    Variable matrix(flat.value.data().View({20, 30}).To(device), true);
    Muon muon({{"p", matrix}}, MuonOptions{}, [](const Tensor& update) { return update; });
    ScheduleFreeAdamW averaged({{"p", matrix}}, ScheduleFreeOptions{});
    for (uint64_t step = 0; step < 3; ++step) {
      matrix.SetGrad(FromVector(Normal<float>(600, step), {20, 30}).To(device));
      muon.Step(0.1);
      averaged.Step(0.1);
    }
    averaged.Evaluate();
    return ToVector<float>(matrix.data().To(Device{}));
  };
  EXPECT_EQ(on(kGpu), on(Device{}));
}

// One in f16, the others in bf16, but for one that is never asked for.
void AskForCopies(const std::vector<NamedVariable>& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i == 3) continue;
    LowCopyOf(parameters[i].value, i == 2 ? DType::kF16 : DType::kBF16);
  }
}

void ExpectWrittenCopies(Optimizer& optimizer) {
  const std::vector<NamedVariable>& parameters = optimizer.parameters();
  for (NamedVariable p : parameters) p.value.ZeroGrad();
  auto with_gradients = parameters;
  SetGradients<float>(with_gradients, 1);
  optimizer.Step(0.1);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& values = parameters[i].value.data();
    const Tensor low = KeptLowCopy(parameters[i].value);
    ASSERT_EQ(low.defined(), i != 3);
    if (!low.defined()) continue;
    testing::ExpectSameBits(low.To(Device{}), values.To(Device{}).To(low.dtype()));
    EXPECT_EQ(LowCopyOf(parameters[i].value, low.dtype()).storage(), low.storage());
    const std::vector<Variable> leaf{parameters[i].value};
    RenewLowCopies(leaf, low.dtype(), [](const auto&, auto&) { FAIL() << "it is current"; });
  }
}

TEST_F(OptimizerOnGpu, StepsWriteKeptCopies) {
  for (const Device device : {Device{}, kGpu}) {
    std::vector<NamedVariable> parameters = Parameters<float>(device);
    AskForCopies(parameters);
    Sgd sgd(parameters, {.momentum = 0.9});
    ExpectWrittenCopies(sgd);
    Adam adam(parameters, AdamWOptions());
    ExpectWrittenCopies(adam);
    for (const StateType type : {StateType::kBF16, StateType::k8Bit}) {
      Adam narrow(parameters, {.state = type});
      ExpectWrittenCopies(narrow);
    }
    Lion lion(parameters, LionOptions{});
    ExpectWrittenCopies(lion);
  }
}

TEST_F(OptimizerOnGpu, NormsAreTheCpus) {
  std::vector<NamedVariable> there = Parameters<float>(kGpu), here = Parameters<float>(Device{});
  for (auto* parameters : {&there, &here}) SetGradients<float>(*parameters, 1);
  const std::vector<double> got = SquaredGradientNorms(there), want = SquaredGradientNorms(here);
  ASSERT_EQ(got.size(), want.size());
  EXPECT_EQ(got[1], 0) << "it has no gradient";
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], testing::Tolerance(DType::kF64, kSizes[i], want[i])) << i;
}

TEST_F(OptimizerOnGpu, RoundsManyTensorsAsEachByItself) {
  std::vector<Tensor> from;
  for (const NamedVariable& parameter : Parameters<float>(kGpu)) {
    const Tensor& all = parameter.value.data();
    from.push_back(all);
    if (all.numel() > 1) from.push_back(all.Narrow(0, 1, all.numel() - 1));  // not aligned
  }
  for (const DType low : {DType::kBF16, DType::kF16}) {
    std::vector<Tensor> to;
    for (const Tensor& tensor : from) to.emplace_back(tensor.shape(), low, kGpu);
    RoundAll(from, to);
    for (size_t i = 0; i < from.size(); ++i)
      testing::ExpectSameBits(to[i].To(Device{}), from[i].To(Device{}).To(low));
  }
}

TEST_F(OptimizerOnGpu, FindsOneValueThatIsNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const size_t where : {size_t{0}, kSizes.size() - 1}) {
      std::vector<NamedVariable> parameters = Parameters<float>(kGpu);
      SetGradients<float>(parameters, 2);
      EXPECT_TRUE(GradientsAreFinite(parameters));
      std::vector<float> values(static_cast<size_t>(kSizes[where]), 1.0f);
      values.back() = bad;
      parameters[where].value.SetGrad(FromVector(values, {kSizes[where]}).To(kGpu));
      EXPECT_FALSE(GradientsAreFinite(parameters)) << bad << " " << where;
    }
  }
}

TEST_F(OptimizerOnGpu, NoGradientsAreFinite) {
  EXPECT_TRUE(GradientsAreFinite(Parameters<float>(kGpu)));
}

}  // namespace
}  // namespace torus::parallel
