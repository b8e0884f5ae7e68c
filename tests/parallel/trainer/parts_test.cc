// The trainer's own parts: layout of the world, costs of blocks, checkpoints.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <tuple>

#include "parallel/codec/make_codec.h"
#include "parallel/optim/sgd.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"
#include "parallel/trainer/block_costs.h"
#include "parallel/trainer/checkpoint.h"
#include "parallel/trainer/totals_builder.h"
#include "parallel/trainer/world_layout.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "tests/parallel/trainer/toy_model.h"

namespace torus::parallel {
namespace {

TEST(WorldLayout, PutsEachReplicasPipelineTogether) {
  const WorldLayout layout(MakeSchedule("gpipe", {3, 4}), 2);
  ASSERT_EQ(layout.size(), 6);
  const RankPlace& place = layout.place(5);
  EXPECT_EQ(place.replica, 1);
  EXPECT_EQ(place.pipeline_rank, 2);
  EXPECT_EQ(place.stages, std::vector<int>{2});
  EXPECT_TRUE(place.last);
  EXPECT_FALSE(place.first);
  EXPECT_EQ(layout.PipelineOf(1), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(layout.ReplicasOf(1), (std::vector<int>{1, 4}));
}

TEST(WorldLayout, SharesThreads) {
  using Shares = std::vector<int>;
  EXPECT_EQ(ThreadShares(6, {1, 9, 1}), (Shares{2, 2, 2}));
  EXPECT_EQ(ThreadShares(7, {1, 1, 1}), (Shares{3, 2, 2}));
  EXPECT_EQ(ThreadShares(4, {1, 9, 1}), (Shares{1, 2, 1}));
  EXPECT_EQ(ThreadShares(5, {1, 9, 5}), (Shares{1, 2, 2}));
  EXPECT_EQ(ThreadShares(5, {1, 9, 4}), (Shares{1, 3, 1}));
  EXPECT_EQ(ThreadShares(1, {1, 1, 1, 1}), (Shares{1, 1, 1, 1}));
}

// Ranks tell their parts of a call in any order, and again in the next call.
TEST(AddSegment, AddsUpTheBytesOfEachLink) {
  const WorldLayout layout(MakeSchedule("gpipe", {1, 1}), 3);
  const auto segment = [](std::vector<uint64_t> sent) {
    RankCounts counts;
    counts.reduced_bytes = counts.uncoded_bytes = std::move(sent);
    return counts;
  };
  TrainTotals totals;
  AddSegment(layout.place(2), segment({1, 2, 0}), totals);
  AddSegment(layout.place(0), segment({0, 3, 4}), totals);
  AddSegment(layout.place(1), segment({5, 0, 0}), totals);
  AddSegment(layout.place(1), segment({50, 0, 6}), totals);
  AddSegment(layout.place(0), segment({0, 30, 40}), totals);
  std::vector<std::tuple<int, int, uint64_t>> links;
  for (const LinkBytes& link : totals.links) links.emplace_back(link.from, link.to, link.sent);
  EXPECT_EQ(links, (std::vector<std::tuple<int, int, uint64_t>>{
                       {0, 1, 33}, {0, 2, 44}, {1, 0, 55}, {1, 2, 6}, {2, 0, 1}, {2, 1, 2}}));
}

TEST(MeasureBubble, IsIdealForIdealTimes) {
  // Two ranks of a pipeline with four micro-batches: 4 of 5 slots computed.
  const Schedule schedule = MakeSchedule("gpipe", {2, 4});
  std::vector<RankTime> ranks(2);
  for (int r = 0; r < 2; ++r) {
    ranks[r].place.stages = {r};
    ranks[r].place.first = r == 0;
    ranks[r].forward = 4;
    ranks[r].backward = 8;
  }
  ranks[0].pipeline = 15;
  ranks[1].pipeline = 12;  // it begins later and ends before
  const Bubble bubble = MeasureBubble(schedule, ranks);
  EXPECT_DOUBLE_EQ(bubble.ideal, 0.2);
  EXPECT_DOUBLE_EQ(bubble.measured, 0.2);
  EXPECT_DOUBLE_EQ(bubble.balanced, 0.2);
}

// (K - 1)(f + b_input - w) of idle time a rank, beside M (f + b), for halves as long as a forward.
TEST(MeasureBubble, TakesABackwardOfASplitScheduleForBothItsHalves) {
  EXPECT_DOUBLE_EQ(MeasureBubble(MakeSchedule("zb-h1", {2, 2}), {}).ideal, 1.0 / 7);
}

// Rank 0 takes twice as long for its two chunks as rank 1: no equal stages.
TEST(MeasureBubble, SharesARanksTimeByItsStages) {
  const Schedule schedule = MakeSchedule("interleaved", {2, 4, 2});
  std::vector<RankTime> ranks(2);
  for (int r = 0; r < 2; ++r) {
    ranks[r].place.stages = {r, r + 2};
    ranks[r].forward = r == 0 ? 8 : 4;
    ranks[r].backward = r == 0 ? 16 : 8;
  }
  const CostModel costs{.forward = {4, 2, 4, 2}, .backward = {8, 4, 8, 4}};
  const Bubble bubble = MeasureBubble(schedule, ranks);
  EXPECT_DOUBLE_EQ(bubble.balanced, Simulate(schedule, costs).bubble);
  EXPECT_GT(bubble.balanced, bubble.ideal);
}

TEST(MeasureBlockCosts, IsPositiveAndLeavesNoGradients) {
  const std::vector<Block> model = testing::ToyModel(3);
  const CostModel costs = MeasureBlockCosts(model, {{Shape{4, testing::kWidth}, DType::kF64}});
  CheckCosts(costs, 3);
  for (const std::vector<double>* list : {&costs.forward, &costs.backward, &costs.activation_bytes})
    for (const double cost : *list) EXPECT_GT(cost, 0);
  EXPECT_EQ(costs.boundary_bytes, std::vector<double>(3, 4 * testing::kWidth * 8));
  EXPECT_EQ(costs.step, std::vector<double>(3, 0));
  for (const Block& block : model) EXPECT_FALSE(block.parameters[0].value.grad().defined());
}

// Weights stay as they are, and count with their gradients and momenta.
TEST(MeasureBlockCosts, StepsTheOptimizer) {
  const std::vector<Block> model = testing::ToyModel(1);
  double bytes = 0;
  for (const NamedVariable& parameter : model[0].parameters)
    bytes += static_cast<double>(parameter.value.data().bytes());
  const auto before = ToVector<double>(model[0].parameters[0].value.data());
  BlockCostOptions options;
  options.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters),
                                 SgdOptions{.momentum = 0.9, .weight_decay = 0.1});
  };
  const CostModel costs =
      MeasureBlockCosts(model, {{Shape{4, testing::kWidth}, DType::kF64}}, options);
  EXPECT_GT(costs.step[0], 0);
  const double buffers = static_cast<double>(model[0].buffers[0].value.bytes());
  EXPECT_EQ(costs.state_bytes[0], 3 * bytes + buffers);
  EXPECT_EQ(ToVector<double>(model[0].parameters[0].value.data()), before);
}

// What is computed again is not kept.
TEST(MeasureBlockCosts, KnowsRecompute) {
  std::vector<Block> model = testing::ToyModel(2);
  const std::vector<TensorSpec> inputs{{Shape{64, testing::kWidth}, DType::kF64}};
  const CostModel kept = MeasureBlockCosts(model, inputs);
  model[0].recompute = true;
  const CostModel computed = MeasureBlockCosts(model, inputs);
  EXPECT_LT(computed.activation_bytes[0], kept.activation_bytes[0]);
  EXPECT_EQ(computed.activation_bytes[1], kept.activation_bytes[1]);
}

// Else batch norm would keep those of the measured steps for the first one of training.
TEST(MeasureBlockCosts, LeavesNoStatistics) {
  int forwards = 0, pending = 0;
  Block block{.name = "norm",
              .forward =
                  [&](const std::vector<Variable>& x, const StepContext&) {
                    ++forwards, ++pending;
                    return x;
                  },
              .end_mini_batch =
                  [&](bool taken) {
                    EXPECT_FALSE(taken);
                    pending = 0;
                  }};
  MeasureBlockCosts({block}, {{Shape{4, 4}, DType::kF32}});
  EXPECT_GT(forwards, 0);
  EXPECT_EQ(pending, 0);
}

TEST(MeasureBlockCosts, SendsWhatTheCodecMakes) {
  Block half{.name = "half",
             .forward = [](const std::vector<Variable>& x, const StepContext&) { return x; }};
  const std::vector<TensorSpec> inputs{{Shape{64, 64}, DType::kF32}};
  const auto codec = MakeCodec("sortq:4");
  const CostModel costs = MeasureBlockCosts({half}, inputs, {.codec = codec.get()});
  EXPECT_EQ(costs.boundary_bytes[0], static_cast<double>(codec->MaxEncodedBytes(64 * 64)));
  EXPECT_GT(costs.encode[0], 0);
  EXPECT_GT(costs.decode[0], 0);
}

// Of outputs that are their own targets the loss has no gradient; a seed of ones has one.
TEST(MeasureBlockCosts, EndsInTheLoss) {
  const std::vector<Block> model = testing::ToyModel(2);
  std::vector<double> largest(2);
  for (size_t i = 0; i < 2; ++i) {
    Variable weight = model[i].parameters[0].value;
    weight.AddHook([&largest, i](const Variable& leaf) {
      for (const double x : ToVector<double>(leaf.grad())) largest[i] = std::max(largest[i], x * x);
    });
  }
  int calls = 0;
  MeasureBlockCosts(model, {{Shape{4, testing::kWidth}, DType::kF64}},
                    {.loss = [&](const std::vector<Variable>& outputs) {
                      ++calls;
                      return testing::ToyLoss(outputs, {outputs[0].data()});
                    }});
  EXPECT_EQ(calls, 4);
  EXPECT_GT(largest[0], 0);
  EXPECT_EQ(largest[1], 0);
}

class CheckpointTest : public ::testing::Test {
 protected:
  const std::string folder_ = ::testing::TempDir() + "/checkpoint_test/run/checkpoint";
  void SetUp() override { std::filesystem::remove_all(::testing::TempDir() + "/checkpoint_test"); }

  static TrainState StateOf(int64_t step) {
    const auto value = static_cast<double>(step);
    return {
        .step = step,
        .weights = {{"a.weight", Full(Shape{300, 100}, value)}, {"a.mean", Full(Shape{}, value)}},
        .optimizer = {{"a.weight.momentum_buffer", Full(Shape{300, 100}, -value)}}};
  }
  static void ExpectWhole(const TrainState& state) {
    const auto value = static_cast<float>(state.step);
    ASSERT_EQ(state.weights.size(), 2u);
    for (float x : ToVector<float>(state.weights[0].value)) ASSERT_EQ(x, value);
    for (float x : ToVector<float>(state.optimizer.at(0).value)) ASSERT_EQ(x, -value);
  }
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  SaveCheckpoint(folder_, StateOf(17), {{"settings.json", "{}"}});
  const TrainState state = LoadCheckpoint(folder_);
  EXPECT_EQ(state.step, 17);
  ExpectWhole(state);
  EXPECT_EQ(io::CheckpointReader(folder_).Text("settings.json"), "{}");
}

TEST_F(CheckpointTest, SurvivesKillAtAnyMoment) {
  SaveCheckpoint(folder_, StateOf(1));
  for (int round = 0; round < 12; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (int64_t step = LoadCheckpoint(folder_).step + 1;; ++step)
        SaveCheckpoint(folder_, StateOf(step));
    }
    usleep(20000 + 1700 * round);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ExpectWhole(LoadCheckpoint(folder_));
  }
}

TEST_F(CheckpointTest, FilesOfTwoStepsAreRefused) {
  SaveCheckpoint(folder_, StateOf(3));
  SaveCheckpoint(folder_ + "-4", StateOf(4));
  std::filesystem::copy(folder_ + "-4/weights-0.safetensors", folder_ + "/weights-0.safetensors",
                        std::filesystem::copy_options::overwrite_existing);
  try {
    LoadCheckpoint(folder_);
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("is of step 4, but checkpoint.json is of step 3"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(CheckpointTest, CountsItsCommits) {
  SaveCheckpoint(folder_, StateOf(5));
  SaveCheckpoint(folder_, StateOf(3));
  EXPECT_EQ(io::CheckpointReader(folder_).manifest().commit, 2);
}

TEST_F(CheckpointTest, AStateThatIsNotFiniteLeavesTheOldOne) {
  SaveCheckpoint(folder_, StateOf(3));
  const auto part = [](TrainState& state, int i) -> std::vector<NamedTensor>& {
    return i == 0 ? state.weights : i == 1 ? state.optimizer : state.averages;
  };
  for (int i = 0; i < 3; ++i) {
    TrainState state = StateOf(4);
    state.averages = StateOf(4).optimizer;
    part(state, i)[0].value.mutable_data<float>()[7] = i == 1 ? INFINITY : NAN;
    try {
      SaveCheckpoint(folder_, state);
      FAIL() << i;
    } catch (const BadInput& error) {
      const std::string says = error.what();
      EXPECT_NE(says.find("after step 4 " + part(state, i)[0].name + " has 1 values of 30000"),
                std::string::npos)
          << says;
    }
    EXPECT_EQ(LoadCheckpoint(folder_).step, 3);
    ExpectWhole(LoadCheckpoint(folder_));
  }
}

TEST_F(CheckpointTest, SaysWhatIsWrong) {
  EXPECT_THROW(LoadCheckpoint(folder_), BadInput);
  SaveCheckpoint(folder_, StateOf(3));
  io::OutputFile broken(folder_ + "/weights-0.safetensors");
  broken.Write("not a tensor file");
  broken.Close(false);
  try {
    LoadCheckpoint(folder_);
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("weights-0.safetensors"), std::string::npos);
  }
  EXPECT_THROW(SaveCheckpoint("/proc/no/such", StateOf(1)), BrokenEnvironment);
}

}  // namespace
}  // namespace torus::parallel
