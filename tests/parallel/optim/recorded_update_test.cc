// Optimizers' updates, norms and finite checks that a graph repeats have the bits of those that are
// run as ever. Skips where there is no GPU: run it with --config=emulated_gpu.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include "parallel/optim/adam.h"
#include "parallel/optim/finite_gradients.h"
#include "parallel/optim/gradient_norm.h"
#include "parallel/optim/rmsprop.h"
#include "parallel/optim/schedule_free.h"
#include "parallel/optim/sgd.h"
#include "runtime/gpu_graph.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"
#include "tests/parallel/optim/parameters.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
constexpr int kSteps = 5;

class RecordedUpdate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

// Of two types, and one without a gradient.
std::vector<NamedVariable> Parameters() {
  std::vector<NamedVariable> all{
      NormalParameter<float>("a", 5, 1), NormalParameter<double>("b", 300, 2),
      NormalParameter<float>("c", kNormBlock + 3, 3), NormalParameter<float>("d", 7, 4)};
  for (NamedVariable& p : all) p.value = Variable(p.value.data().To(kGpu), true);
  for (size_t i = 0; i < 3; ++i) {
    Variable& p = all[i].value;
    p.SetGrad(Empty(p.shape(), p.dtype(), kGpu));
  }
  return all;
}

// In the memory that they have.
void WriteGradients(const std::vector<NamedVariable>& parameters, int step) {
  for (size_t i = 0; i < 3; ++i) {
    Tensor gradient = parameters[i].value.grad();
    const auto values = Normal<float>(gradient.numel(), static_cast<uint64_t>(10 * step) + i);
    Copy(FromVector(values, gradient.shape()), gradient);
  }
}

double RateOf(int step) { return 0.1 / (1 + step); }
double ScaleOf(int step) { return step == 3 ? 0.5 : 1; }

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(std::vector<NamedVariable>)>;

// Values and state behind all steps. The first makes the optimizer's state, the second is recorded.
std::vector<std::vector<double>> Train(const MakeOptimizer& make, bool as_graph) {
  const std::vector<NamedVariable> parameters = Parameters();
  const auto optimizer = make(parameters);
  std::unique_ptr<GpuGraph> graph;
  for (int step = 0; step < kSteps; ++step) {
    WriteGradients(parameters, step);
    if (!as_graph || step == 0) {
      optimizer->Step(RateOf(step), ScaleOf(step));
      continue;
    }
    optimizer->Prepare(RateOf(step), ScaleOf(step));
    if (!graph) {
      graph = std::make_unique<GpuGraph>(kGpu);
      graph->Record([&] { optimizer->Update(); });
    }
    graph->Launch(step);
  }
  std::vector<std::vector<double>> values;
  for (const NamedVariable& p : parameters)
    values.push_back(ToVector<double>(p.value.data().To(DType::kF64)));
  for (const NamedTensor& t : optimizer->State())
    values.push_back(ToVector<double>(t.value.To(DType::kF64)));
  return values;
}

template <class T, class Options>
void ExpectTheBitsOfOthers(const std::vector<Options>& all) {
  for (const Options& options : all) {
    const MakeOptimizer make = [&](std::vector<NamedVariable> parameters) {
      return std::make_unique<T>(std::move(parameters), options);
    };
    EXPECT_EQ(Train(make, true), Train(make, false));
  }
}

TEST_F(RecordedUpdate, OfSgd) {
  ExpectTheBitsOfOthers<Sgd, SgdOptions>(
      {{}, {.momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1}});
}

TEST_F(RecordedUpdate, OfAdam) {
  ExpectTheBitsOfOthers<Adam, AdamOptions>(
      {{}, AdamWOptions(), {.weight_decay = 0.1, .amsgrad = true}});
}

// Each launch rounds by the chance of its own step.
TEST_F(RecordedUpdate, OfAdamWithNarrowState) {
  for (const StateType type : {StateType::kBF16, StateType::k8Bit}) {
    const MakeOptimizer make = [&](std::vector<NamedVariable> parameters) {
      AdamGroup narrow{.parameters = {}, .options = {.state = type}}, wide;
      for (NamedVariable& p : parameters)
        (p.value.dtype() == DType::kF32 ? narrow : wide).parameters.push_back(std::move(p));
      return std::make_unique<Adam>(std::vector<AdamGroup>{narrow, wide});
    };
    EXPECT_EQ(Train(make, true), Train(make, false));
  }
}

TEST_F(RecordedUpdate, OfRules) {
  ExpectTheBitsOfOthers<Rmsprop, RmspropOptions>({{.momentum = 0.9}});
  ExpectTheBitsOfOthers<ScheduleFreeAdamW, ScheduleFreeOptions>({{.weight_decay = 0.1}});
}

// Also where only launches change the values.
TEST_F(RecordedUpdate, IsToldToThoseWhoKeepCopies) {
  const std::vector<NamedVariable> parameters = Parameters();
  Sgd sgd(parameters, {});
  const uint64_t before = parameters[0].value.data().version();
  sgd.Prepare(0.1, 1);
  EXPECT_GT(parameters[0].value.data().version(), before);
}

// On a CPU too.
TEST(UpdateInHalves, IsOfTheParametersThatWerePrepared) {
  const std::vector<NamedVariable> parameters{NormalParameter<float>("a", 5, 1),
                                              NormalParameter<float>("b", 5, 2)};
  for (const NamedVariable& p : parameters)
    Variable(p.value).SetGrad(Zeros(p.value.shape(), DType::kF32));
  const auto refuses = [&](Optimizer& optimizer) {
    EXPECT_THROW(optimizer.Update(), BadInput) << "nothing was prepared";
    optimizer.Prepare(0.1, 1);
    Variable(parameters[1].value).ZeroGrad();
    EXPECT_THROW(optimizer.Update(), BadInput) << "a gradient has gone";
    Variable(parameters[1].value).SetGrad(Zeros({5}, DType::kF32));
    EXPECT_NO_THROW(optimizer.Update());
  };
  Sgd sgd(parameters, {});
  refuses(sgd);
  Adam adam(parameters, AdamOptions{});
  refuses(adam);
  Rmsprop rmsprop(parameters, RmspropOptions{});
  refuses(rmsprop);
}

// A launch whose parameters are not those of the recording changes nothing.
TEST_F(RecordedUpdate, IsLaunchedForThePreparedParametersAlone) {
  const std::vector<NamedVariable> parameters = Parameters();
  Sgd sgd(parameters, {});
  WriteGradients(parameters, 0);
  sgd.Step(0.1, 1);
  sgd.Prepare(0.1, 1);
  GpuGraph graph(kGpu);
  graph.Record([&] { sgd.Update(); });
  const auto before = ToVector<float>(parameters[0].value.data());
  Variable(parameters[1].value).ZeroGrad();
  sgd.Prepare(0.1, 1);
  EXPECT_THROW(graph.Launch(1), BadInput);
  EXPECT_EQ(ToVector<float>(parameters[0].value.data()), before);
}

TEST_F(RecordedUpdate, OfNormsAndFiniteChecks) {
  const std::vector<NamedVariable> parameters = Parameters();
  Tensor squares, found;
  GpuGraph graph(kGpu);
  WriteGradients(parameters, 0);
  SquaredGradientNorms(parameters);
  graph.Record([&] {
    squares = StartSquaredNorms(parameters);
    found = StartFiniteCheck(parameters);
  });
  for (int step = 0; step < kSteps; ++step) {
    WriteGradients(parameters, step);
    if (Tensor bad = parameters[1].value.grad().Narrow(0, 7, 1); step == 2)
      Fill(bad, std::numeric_limits<double>::infinity());
    graph.Launch(step);
    EXPECT_EQ(SquaredNormsFrom(squares, parameters), SquaredGradientNorms(parameters)) << step;
    EXPECT_EQ(IsFinite(found), step != 2);
  }
}

}  // namespace
}  // namespace torus::parallel
