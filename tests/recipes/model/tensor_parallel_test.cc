// Tensor-parallel ranks compute what one rank does, up to the rounding of their sums: losses,
// gradients, the clipping norm, weights and optimizer state, with dropout, tied weights and a
// vocabulary that no number of ranks divides.
#include <algorithm>
#include <cmath>

#include "runtime/error.h"
#include "tests/recipes/model/split_models.h"
#include "tests/testing/tolerance.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

std::vector<double> Values(const Tensor& tensor) {
  return ToVector<double>(tensor.To(DType::kF64).Contiguous());
}

double Largest(const std::vector<NamedTensor>& tensors) {
  double largest = 0;
  for (const NamedTensor& tensor : tensors)
    for (const double value : Values(tensor.value)) largest = std::max(largest, std::abs(value));
  return largest;
}

// Of one step: behind each value lie the sums of a forward and a backward through all layers, over
// all tokens and the widest layer; both runs may be off. An error in one tensor passes to all, so
// the largest value of them all counts.
double StepTolerance(double largest) {
  const int64_t terms = 2 * (kSplitLayers + 2) * kRows * kTokens * kVocabulary;
  const double tolerance = 2 * ::torus::testing::Tolerance(DType::kF64, terms, largest);
  EXPECT_LT(tolerance, 1e-10 * std::max(1.0, largest));
  return tolerance;
}

void ExpectNear(const Tensor& got, const Tensor& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = Values(got), b = Values(want);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], tolerance) << what << " element " << i;
}

void ExpectNear(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& want,
                double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].name, want[i].name);
    ExpectNear(got[i].value, want[i].value, tolerance, got[i].name);
  }
}

std::map<std::string, TensorSplit> SplitsOf(const SplitKind& split) {
  std::map<std::string, TensorSplit> all;
  for (const Block& block : BlocksOf(split.kind, false))
    for (const NamedSplit& one : block.splits) all[one.name] = one.split;
  return all;
}

// Every rank's slices are those of the one rank's gradients.
void ExpectSameGradients(const SplitKind& split, const SplitRun& run, const SplitRun& one) {
  const std::map<std::string, TensorSplit> splits = SplitsOf(split);
  std::vector<NamedTensor> whole;
  for (const auto& [name, gradient] : one.gradients.at(0)) whole.push_back({name, gradient});
  const double tolerance = StepTolerance(Largest(whole));
  const WorldLayout& layout = run.trainer->layout();
  for (const auto& [rank, gradients] : run.gradients)
    for (const auto& [name, gradient] : gradients) {
      const auto found = splits.find(name);
      const Tensor& all = one.gradients.at(0).at(name);
      ExpectNear(
          gradient,
          found == splits.end() ? all : SliceOf(all, found->second, layout.place(rank).tensor),
          tolerance, fmt::format("rank {}, {}", rank, name));
    }
}

struct Layout {
  int tensor, stages = 1, replicas = 1;
};

const std::vector<Layout> kLayouts{{2}, {4}, {2, 2}, {2, 1, 2}, {2, 2, 2}};

class TensorParallel : public ::testing::TestWithParam<Layout> {};

// Every step begins from the same state. The optimizer divides by the root of squared gradients, so
// its weights are compared in the free run below, its state here.
TEST_P(TensorParallel, EveryStepIsThatOfOneRank) {
  const auto [tensor, stages, replicas] = GetParam();
  for (const SplitKind& split : SplitKinds()) {
    SCOPED_TRACE(split.kind.name);
    SplitRun one(split, SplitOptions(1)), run(split, SplitOptions(tensor, stages, replicas));
    for (int64_t step = 0; step < 4; ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      run.trainer->SetState(one.trainer->State());
      const double loss = one.Step();
      EXPECT_NEAR(run.Step(), loss, StepTolerance(loss));
      ExpectSameGradients(split, run, one);
      const TrainState a = run.trainer->State(), b = one.trainer->State();
      ExpectNear(a.optimizer, b.optimizer, StepTolerance(std::max(1.0, Largest(b.optimizer))));
      if (HasFatalFailure()) return;
    }
    EXPECT_NEAR(run.Evaluate(), one.Evaluate(), 1e-6);
  }
}

// Adam turns a gradient g into g / (|g| + eps), whose relative error is that of g; the smallest g
// that still moves a weight much is of the size of eps = 1e-8, a 10^8-th of the largest. So a step's
// rounding reaches the weights up to 10^8 times larger where all else is exact, times the rate.
TEST_P(TensorParallel, ARunOfSeveralStepsStaysWithOneRanks) {
  const auto [tensor, stages, replicas] = GetParam();
  constexpr double kRate = 0.01, kEps = 1e-8;
  for (const SplitKind& split : SplitKinds()) {
    SCOPED_TRACE(split.kind.name);
    SplitRun one(split, SplitOptions(1)), run(split, SplitOptions(tensor, stages, replicas));
    constexpr int64_t kSteps = 5;
    const std::vector<double> want = one.Steps(kSteps), got = run.Steps(kSteps);
    const double tolerance = kSteps * StepTolerance(1) * kRate / kEps;
    for (int64_t i = 0; i < kSteps; ++i) EXPECT_NEAR(got[i], want[i], tolerance);
    EXPECT_GT(std::abs(want.back() - want.front()), 100 * tolerance);
    const TrainState a = run.trainer->State(), b = one.trainer->State();
    ExpectNear(a.weights, b.weights, tolerance);
    ExpectNear(a.averages, b.averages, tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, TensorParallel, ::testing::ValuesIn(kLayouts),
                         [](const auto& info) {
                           return fmt::format("Tensor{}Stages{}Replicas{}", info.param.tensor,
                                              info.param.stages, info.param.replicas);
                         });

}  // namespace
}  // namespace torus::recipes
