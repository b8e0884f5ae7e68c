// A model with skip connections is trained to the same bits by any cut, schedule and strategy, and
// its blocks can be timed.
#include <gtest/gtest.h>

#include "parallel/trainer/block_costs.h"
#include "tests/parallel/trainer/outcome.h"

namespace torus::parallel {
namespace {

using testing::ToyRun;

Variable Add(const Variable& a, const Variable& b) {
  Tensor sum = a.data().Clone();
  Dispatch("add", sum.device(), [&] { AddInPlace(sum, b.data()); });
  return Record("add", sum, {a, b}, [](const GradContext& g) {
    return Gradients{g.grad(), g.grad()};
  });
}

// The output of block 0 is added to that of block 2, in block 3.
std::vector<Block> Model() {
  std::vector<Block> blocks = testing::ToyModel(4);
  blocks[0].stashes = {"first"};
  blocks[0].forward = [forward = blocks[0].forward](const auto& x, const StepContext& context) {
    std::vector<Variable> y = forward(x, context);
    return std::vector<Variable>{y[0], y[0]};
  };
  blocks[3].takes = {"first"};
  blocks[3].forward = [forward = blocks[3].forward](const auto& x, const StepContext& context) {
    return forward({Add(x.at(0), x.at(1))}, context);
  };
  return blocks;
}

TrainingParts PartsOf(const ToyRun& run) {
  TrainingParts parts = run.Parts();
  parts.model = Model;
  return parts;
}

TEST(SkipConnections, EveryScheduleAndStrategyGivesTheSameBits) {
  for (const char* strategy : {"ddp", "zero1", "fsdp"}) {
    SCOPED_TRACE(strategy);
    ToyRun run;
    run.options = {
        .replicas = 2, .micro_batches = 3, .strategy = strategy, .seed = 5, .clip_norm = 0.05};
    testing::ExpectEveryScheduleGivesTheSameBits(run, PartsOf(run));
  }
}

TEST(SkipConnections, TheyCount) {
  ToyRun run;
  run.options = {.micro_batches = 3, .seed = 5};
  EXPECT_NE(testing::TrainFor(run, 8, PartsOf(run)).losses, testing::TrainFor(run, 8).losses);
}

// Not among the bytes of the cuts that they pass.
TEST(SkipConnections, BlocksOfTheirModelAreTimed) {
  const std::vector<TensorSpec> inputs{{{5, testing::kWidth}, DType::kF64}};
  const CostModel with = MeasureBlockCosts(Model(), inputs);
  const CostModel without = MeasureBlockCosts(testing::ToyModel(4), inputs);
  EXPECT_EQ(with.boundary_bytes, without.boundary_bytes);
  EXPECT_EQ(with.forward.size(), 4u);
}

}  // namespace
}  // namespace torus::parallel
