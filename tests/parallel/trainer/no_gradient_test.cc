// Parameters without gradient: frozen ones, and those that no sample of a step has used. As in
// PyTorch, such a parameter is not decayed and its optimizer state does not move, also where it is
// replicated or tied.
#include "parallel/optim/adam.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ExpectEqualBits;
using testing::kWidth;
using testing::Outcome;
using testing::ToyBlock;
using testing::ToyLayer;
using testing::ToyRun;
using testing::ToyWeight;
using testing::TrainFor;

constexpr int64_t kSteps = 5;

Variable Frozen(int number) { return Variable(ToyWeight(number).data(), false); }

// Lets the block take one more layer, of weight `w`, in those micro-batches in which `when` holds.
// The block names the weight as its own parameter.
void AddLayer(Block& block, const std::string& name, const Variable& w,
              const std::function<bool(const StepContext&)>& when) {
  block.parameters.push_back({name, w});
  block.forward = [=, inner = block.forward](const std::vector<Variable>& x,
                                             const StepContext& context) {
    const Variable y = inner(x, context)[0];
    return std::vector<Variable>{when(context) ? ToyLayer(y, w, context, 17) : y};
  };
}

bool Never(const StepContext&) { return false; }
// The second half of the samples in every other step.
bool Sometimes(const StepContext& c) { return c.step % 2 == 1 && c.samples.front() > 0; }

// Four blocks: the second has a frozen weight, the third one that nothing uses, the last one that
// some micro-batches of some steps use.
std::vector<Block> ModelWithAbsentGradients() {
  std::vector<Block> model{ToyBlock(0), ToyBlock(1, Frozen(1)), ToyBlock(2), ToyBlock(3)};
  AddLayer(model[2], "unused.weight", ToyWeight(4), Never);
  AddLayer(model[3], "sometimes.weight", ToyWeight(5), Sometimes);
  return model;
}

// The first and the last block share three weights: a frozen one, one that nothing uses, and one
// that the last block alone uses, in some micro-batches of some steps.
std::vector<Block> TiedModelWithAbsentGradients() {
  std::vector<Block> model{ToyBlock(0), ToyBlock(1), ToyBlock(2), ToyBlock(3)};
  for (Block* block : {&model.front(), &model.back()}) {
    AddLayer(*block, "frozen.weight", Frozen(6), [](const StepContext&) { return true; });
    AddLayer(*block, "unused.weight", ToyWeight(4), Never);
    AddLayer(*block, "sometimes.weight", ToyWeight(5), block == &model.back() ? Sometimes : Never);
  }
  return model;
}

std::unique_ptr<Optimizer> DecayingSgd(std::vector<NamedVariable> parameters) {
  return std::make_unique<Sgd>(std::move(parameters),
                               SgdOptions{.momentum = 0.9, .weight_decay = 0.1});
}

std::unique_ptr<Optimizer> DecayingAdamW(std::vector<NamedVariable> parameters) {
  return std::make_unique<Adam>(std::move(parameters),
                                AdamOptions{.weight_decay = 0.1, .decoupled_decay = true});
}

using MakeOptimizer = std::unique_ptr<Optimizer> (*)(std::vector<NamedVariable>);

// Two micro-batches in all, so that one replica and two add the same two terms.
Outcome Train(const std::function<std::vector<Block>()>& model, MakeOptimizer optimizer,
              const Cuts& cuts, int replicas) {
  ToyRun run;
  run.options = {.stages = static_cast<int>(cuts.size()) + 1,
                 .cuts = cuts,
                 .replicas = replicas,
                 .micro_batches = 2 / replicas,
                 .clip_norm = 0.5};
  TrainingParts parts = run.Parts();
  parts.model = model;
  parts.optimizer = optimizer;
  return TrainFor(run, kSteps, parts);
}

std::vector<double> Find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& tensor : tensors)
    if (tensor.name == name) return ToVector<double>(tensor.value);
  return {};
}

void ExpectUntouched(const Outcome& outcome, const std::string& name, int number) {
  EXPECT_EQ(Find(outcome.state.weights, name), ToVector<double>(ToyWeight(number).data())) << name;
  for (const NamedTensor& state : outcome.state.optimizer)
    EXPECT_FALSE(state.name.starts_with(name)) << state.name;
}

// All but the running statistics, which are those of replica 0's samples.
void ExpectEqualTraining(Outcome a, Outcome b) {
  const auto runs = [](const NamedTensor& t) { return t.name.ends_with(".running"); };
  EXPECT_EQ(std::erase_if(a.state.weights, runs), 4u);
  EXPECT_EQ(std::erase_if(b.state.weights, runs), 4u);
  ExpectEqualBits(a, b);
}

class NoGradient : public ::testing::TestWithParam<MakeOptimizer> {};

TEST_P(NoGradient, TwoReplicasLeaveTheSameAloneAsOne) {
  const Outcome one = Train(ModelWithAbsentGradients, GetParam(), {}, 1);
  ExpectUntouched(one, "layer1.weight", 1);
  ExpectUntouched(one, "unused.weight", 4);
  EXPECT_NE(Find(one.state.weights, "sometimes.weight"), ToVector<double>(ToyWeight(5).data()));
  for (const Cuts& cuts : {Cuts{}, Cuts{2}, Cuts{1, 2, 3}}) {
    ExpectEqualTraining(one, Train(ModelWithAbsentGradients, GetParam(), cuts, 1));
    ExpectEqualTraining(one, Train(ModelWithAbsentGradients, GetParam(), cuts, 2));
  }
}

TEST_P(NoGradient, TiedWeightsAreLeftAloneWhereverTheModelIsCut) {
  const Outcome one = Train(TiedModelWithAbsentGradients, GetParam(), {}, 1);
  ExpectUntouched(one, "frozen.weight", 6);
  ExpectUntouched(one, "unused.weight", 4);
  EXPECT_NE(Find(one.state.weights, "sometimes.weight"), ToVector<double>(ToyWeight(5).data()));
  for (const Cuts& cuts : {Cuts{}, Cuts{2}, Cuts{1, 2, 3}}) {
    ExpectEqualTraining(one, Train(TiedModelWithAbsentGradients, GetParam(), cuts, 1));
    ExpectEqualTraining(one, Train(TiedModelWithAbsentGradients, GetParam(), cuts, 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, NoGradient, ::testing::Values(&DecayingSgd, &DecayingAdamW),
                         [](const auto& info) { return info.index == 0 ? "Sgd" : "AdamW"; });

}  // namespace
}  // namespace torus::parallel
