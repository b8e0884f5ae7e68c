// A pipeline gives the bits of the plain model, whatever the cut and the schedule.
#include "parallel/pipeline/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/verifier.h"
#include "runtime/dispatch.h"
#include "runtime/error.h"
#include "runtime/trace.h"
#include "tests/parallel/pipeline/pipeline_run.h"

namespace torus::parallel {
namespace {

using tiny::PipelineRun;
using tiny::TrainPipeline;
using tiny::TrainPlain;
using K = ActionKind;

TEST(Executor, EveryCutAndNumberOfMicroBatchesGivesThePlainModelsBits) {
  const std::vector<Cuts> all_cuts{{},  {1}, {2},    {3},       {4},
                                   {5}, {6}, {4, 5}, {1, 3, 5}, {1, 2, 3, 4, 5, 6}};
  for (const int m : {1, 2, 3, 5}) {  // 10 samples in 3 parts: 4, 4, 2
    const tiny::Trained plain = TrainPlain(3, 10, m);
    ASSERT_EQ(plain.losses.size(), 3u);
    EXPECT_LT(plain.losses[2], plain.losses[0]);
    for (const Cuts& cuts : all_cuts) {
      const int stages = static_cast<int>(cuts.size()) + 1;
      EXPECT_EQ(TrainPipeline({.schedule = MakeSchedule("gpipe", {stages, m}), .cuts = cuts}),
                plain)
          << stages << " stages, " << m << " micro-batches";
    }
  }
}

TEST(Executor, EveryScheduleGivesThePlainModelsBits) {
  const std::map<int, Cuts> cuts{{2, {4}}, {3, {2, 4}}, {4, {1, 3, 5}}, {6, {1, 2, 3, 4, 5}}};
  const std::vector<std::pair<const char*, PipelineSize>> all{
      {"1f1b", {.ranks = 2}},
      {"1f1b", {.ranks = 4}},
      {"zb-h1", {.ranks = 2}},
      {"zb-h1", {.ranks = 4}},
      {"interleaved", {.ranks = 3}},
      {"u-shaped", {.ranks = 2, .both_ends = true}},
      {"u-shaped", {.ranks = 3, .both_ends = true}},
      {"interleaved", {.ranks = 2, .chunks = 2}},
      {"interleaved", {.ranks = 3, .chunks = 2}},
      {"zb-interleaved", {.ranks = 2, .chunks = 2}},
      {"zb-interleaved", {.ranks = 2, .chunks = 3}},
      {"zb-v", {.ranks = 2, .chunks = 2}},
      {"zb-v", {.ranks = 3, .chunks = 2}},
      {"v-half", {.ranks = 2, .chunks = 2}},
      {"v-half", {.ranks = 3, .chunks = 2}},
      {"v-min", {.ranks = 3, .chunks = 2}},
      {"dualpipe-v", {.ranks = 1, .chunks = 2}},
      {"dualpipe-v", {.ranks = 2, .chunks = 2}},
      {"dualpipe-v", {.ranks = 3, .chunks = 2}},
      {"interleaved", {.ranks = 2, .chunks = 3}}};
  for (const int m : {1, 2, 3, 5}) {
    const tiny::Trained plain = TrainPlain(2, 10, m);
    for (auto [name, size] : all) {
      size.micro_batches = m;
      EXPECT_EQ(
          TrainPipeline(
              {.schedule = MakeSchedule(name, size), .cuts = cuts.at(size.stages()), .steps = 2}),
          plain)
          << name << ", " << size.ranks << " ranks, " << size.chunks << " chunks, " << m
          << " micro-batches";
    }
  }
}

TEST(Executor, LastBatchLeavesMicroBatchesSmallerOrEmpty) {
  for (const int samples : {1, 2, 5, 7}) {
    const tiny::Trained plain = TrainPlain(2, samples, 4);
    EXPECT_EQ(TrainPipeline({.schedule = MakeSchedule("gpipe", {3, 4}),
                             .cuts = {2, 4},
                             .steps = 2,
                             .samples = samples}),
              plain)
        << samples;
  }
}

// Each compute-only list is lowered and verified as the factory does.
Schedule Make(const char* name, int stages, int m, std::vector<std::vector<Action>> ranks) {
  const int num_ranks = static_cast<int>(ranks.size());
  Schedule schedule = Lower({name, num_ranks, stages, m, std::move(ranks)});
  Verify(schedule);
  return schedule;
}

TEST(Executor, SplitHalvesGiveTheSameBits) {
  const Schedule s = Make("halves", 2, 2,
                          {{{K::kForward, 0, 0},
                            {K::kForward, 0, 1},
                            {K::kBackwardInput, 0, 0},
                            {K::kBackwardInput, 0, 1},
                            {K::kBackwardWeight, 0, 0},
                            {K::kBackwardWeight, 0, 1}},
                           {{K::kForward, 1, 0},
                            {K::kBackwardInput, 1, 0},
                            {K::kForward, 1, 1},
                            {K::kBackwardInput, 1, 1},
                            {K::kBackwardWeight, 1, 0},
                            {K::kBackwardWeight, 1, 1}}});
  for (const Cuts& cuts : {Cuts{1}, Cuts{3}, Cuts{4}, Cuts{5}}) {
    EXPECT_EQ(TrainPipeline({.schedule = s, .cuts = cuts}), TrainPlain(3, 10, 2));
  }
}

TEST(Executor, OneForwardOneBackwardGivesTheSameBits) {
  const Schedule s = Make("1f1b", 2, 3,
                          {{{K::kForward, 0, 0},
                            {K::kForward, 0, 1},
                            {K::kBackward, 0, 0},
                            {K::kForward, 0, 2},
                            {K::kBackward, 0, 1},
                            {K::kBackward, 0, 2}},
                           {{K::kForward, 1, 0},
                            {K::kBackward, 1, 0},
                            {K::kForward, 1, 1},
                            {K::kBackward, 1, 1},
                            {K::kForward, 1, 2},
                            {K::kBackward, 1, 2}}});
  EXPECT_EQ(TrainPipeline({.schedule = s, .cuts = {4}}), TrainPlain(3, 10, 3));
}

// Stages 0 and 2 on rank 0, 1 and 3 on rank 1; and two neighbours on one rank.
TEST(Executor, SeveralStagesOnARank) {
  const Schedule looped = Make("looped", 4, 2,
                               {{{K::kForward, 0, 0},
                                 {K::kForward, 0, 1},
                                 {K::kForward, 2, 0},
                                 {K::kForward, 2, 1},
                                 {K::kBackward, 2, 0},
                                 {K::kBackward, 2, 1},
                                 {K::kBackward, 0, 0},
                                 {K::kBackward, 0, 1}},
                                {{K::kForward, 1, 0},
                                 {K::kForward, 1, 1},
                                 {K::kForward, 3, 0},
                                 {K::kForward, 3, 1},
                                 {K::kBackward, 3, 0},
                                 {K::kBackward, 3, 1},
                                 {K::kBackward, 1, 0},
                                 {K::kBackward, 1, 1}}});
  EXPECT_EQ(TrainPipeline({.schedule = looped, .cuts = {1, 4, 5}}), TrainPlain(3, 10, 2));
  const Schedule neighbours =
      Make("neighbours", 3, 1,
           {{{K::kForward, 0, 0}, {K::kForward, 1, 0}, {K::kBackward, 1, 0}, {K::kBackward, 0, 0}},
            {{K::kForward, 2, 0}, {K::kBackward, 2, 0}}});
  EXPECT_EQ(TrainPipeline({.schedule = neighbours, .cuts = {3, 5}}), TrainPlain(3, 10, 1));
}

TEST(Executor, EvaluationChangesNothingAndGivesTheLossWithoutDropout) {
  double before = 0, after = 0, one_stage = 0;
  const auto evaluate = [](double& result) {
    return [&result](int, Executor& executor) {
      const double loss = executor.Run(tiny::MakeBatch(50, 7, 3), RunMode::kEvaluate).loss;
      EXPECT_EQ(executor.Run(tiny::MakeBatch(50, 7, 3), RunMode::kEvaluate).loss, loss);
      if (loss != 0) result = loss;
    };
  };
  const auto run = [&](int stages, int steps, const Cuts& cuts, double& result) {
    return TrainPipeline({.schedule = MakeSchedule("gpipe", {stages, 3}),
                          .cuts = cuts,
                          .steps = steps,
                          .samples = 7,
                          .at_end = evaluate(result)});
  };
  run(2, 0, {4}, before);
  const tiny::Trained trained = run(2, 3, {4}, after);
  run(1, 3, {}, one_stage);
  EXPECT_EQ(trained, TrainPlain(3, 7, 3));
  EXPECT_EQ(after, one_stage);
  EXPECT_NE(before, after);
}

TEST(Executor, MiniBatchesEndOnceAStepInTrainingAlone) {
  int commits = 0;
  RunRanks(1, [&](Transport& transport) {
    std::vector<Stage> stages = MakeStages(tiny::MakeBlocks(1, &commits), {});
    Executor executor(transport, MakeSchedule("gpipe", {1, 2}), {{0, &stages[0]}},
                      {.loss = tiny::Loss});
    executor.AgreeOnShapes(tiny::InputSpecs(4, 2));
    executor.Run(tiny::MakeBatch(0, 4, 2), RunMode::kEvaluate);
    EXPECT_EQ(commits, 0);
    executor.Run(tiny::MakeBatch(0, 4, 2), RunMode::kTrain);
    EXPECT_EQ(commits, tiny::kBlocks);
  });
}

// Keeps the upper half of each float.
class HalfCodec : public Codec {
 public:
  std::string name() const override { return "half"; }
  size_t MaxEncodedBytes(int64_t count) const override { return 2 * count; }
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    auto* p = reinterpret_cast<BFloat16*>(out.data());
    for (size_t i = 0; i < in.size(); ++i) p[i] = BFloat16(in[i]);
    return 2 * in.size();
  }
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    const auto* p = reinterpret_cast<const BFloat16*>(in.data());
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(p[i]);
  }
};

TEST(Executor, CountsBytesOfEachCutWithAndWithoutACodec) {
  // Cut 4 carries two tensors of 6 columns; 7 samples in 3 micro-batches of 3, 3, 1; 3 steps.
  const uint64_t raw = 2 * 6 * 7 * 3 * sizeof(float);
  for (const bool coded : {false, true}) {
    const tiny::Trained trained =
        TrainPipeline({.schedule = MakeSchedule("gpipe", {2, 3}),
                       .cuts = {4},
                       .samples = 7,
                       .adjust =
                           [&](int, Transport&, ExecutorOptions& options) {
                             if (!coded) return;
                             options.activation_codec = std::make_shared<HalfCodec>();
                             options.gradient_codec = std::make_shared<HalfCodec>();
                           },
                       .at_end =
                           [&](int rank, Executor& executor) {
                             const std::vector<CutTraffic> traffic = executor.traffic();
                             ASSERT_EQ(traffic.size(), 1u);
                             EXPECT_EQ(traffic[0].stage, 1);
                             EXPECT_EQ(traffic[0].forward, rank == 0);
                             EXPECT_EQ(traffic[0].peer, 1 - rank);
                             EXPECT_EQ(traffic[0].raw_bytes, raw);
                             EXPECT_EQ(traffic[0].sent_bytes, coded ? raw / 2 : raw);
                           }});
    const tiny::Trained plain = TrainPlain(3, 7, 3);
    EXPECT_EQ(trained == plain, !coded);
    // Rounding an activation to 8 bits of fraction moves a loss by that order.
    EXPECT_NEAR(trained.losses[0], plain.losses[0], 0.05 * plain.losses[0]);
  }
}

TEST(Executor, TheTransportCountsTheSamePayloads) {
  const auto adjust = [](int rank, Transport& transport, ExecutorOptions& options) {
    if (rank != 0) return;
    // Rank 0 has had the last gradient by then, so all 10 rows of 7 columns were taken.
    options.on_step = [&transport](int, int64_t step) {
      EXPECT_EQ(transport.BytesSent(1, TagClass::kActivation), (step + 1) * 280u);
      EXPECT_EQ(transport.BytesSent(1, TagClass::kGradient), 0u);
      return true;
    };
  };
  TrainPipeline(
      {.schedule = MakeSchedule("gpipe", {2, 2}), .cuts = {1}, .steps = 1, .adjust = adjust});
}

TEST(Executor, TracesEveryActionOnTheRanksLane) {
  trace::Drain();
  trace::Enable(true);
  TrainPipeline({.schedule = MakeSchedule("gpipe", {2, 2}), .cuts = {4}, .steps = 1});
  trace::Enable(false);
  const std::vector<trace::Event> events = trace::Drain();
  const auto count = [&](int rank, const char* name, const char* category) {
    return std::count_if(events.begin(), events.end(), [&](const trace::Event& e) {
      return e.rank == rank && e.name == name && e.category == category && e.step == 0 &&
             e.end_ns >= e.begin_ns;
    });
  };
  for (const int rank : {0, 1}) {
    for (const char* name : {"F0", "F1"}) EXPECT_EQ(count(rank, name, "forward"), 1);
    for (const char* name : {"B0", "B1"}) EXPECT_EQ(count(rank, name, "backward"), 1);
    EXPECT_EQ(count(rank, "reduce", "reduce"), 1);
    EXPECT_EQ(count(rank, "step", "optimizer"), 1);
  }
  for (const char* name : {"sendA0", "sendA1", "recvG0", "recvG1"})
    EXPECT_EQ(count(0, name, "transfer"), 1);
  for (const char* name : {"recvA0", "recvA1", "sendG0", "sendG1"})
    EXPECT_EQ(count(1, name, "transfer"), 1);
}

TEST(Executor, RefusesWhatDoesNotFit) {
  RunRanks(1, [](Transport& transport) {
    std::vector<Stage> stages = MakeStages(tiny::MakeBlocks(1), {});
    const Schedule schedule = MakeSchedule("gpipe", {1, 2});
    const ExecutorOptions options{.loss = tiny::Loss};
    EXPECT_THROW(Executor(transport, MakeSchedule("gpipe", {2, 2}), {{0, &stages[0]}}, options),
                 BadInput);
    EXPECT_THROW(Executor(transport, schedule, {}, options), BadInput);
    EXPECT_THROW(Executor(transport, schedule, {{0, &stages[0]}, {1, &stages[0]}}, options),
                 BadInput);
    EXPECT_THROW(Executor(transport, schedule, {{0, &stages[0]}}, {}), BadInput);
    Executor executor(transport, schedule, {{0, &stages[0]}}, options);
    EXPECT_THROW(executor.Run(tiny::MakeBatch(0, 4, 2), RunMode::kTrain),
                 BadInput);  // shapes not agreed
    executor.AgreeOnShapes(tiny::InputSpecs(4, 2));
    EXPECT_THROW(executor.Run(tiny::MakeBatch(0, 4, 3), RunMode::kTrain), BadInput);
  });
}

// The message for a first stage of one block of this forward.
std::string ErrorOfForward(decltype(Block::forward) forward) {
  try {
    RunRanks(2, [&](Transport& transport) {
      std::vector<Block> blocks = tiny::MakeBlocks(1);
      blocks[0].name = "mine";
      blocks[0].forward = forward;
      std::vector<Stage> stages = MakeStages(blocks, {1});
      const int rank = transport.rank();
      Executor executor(transport, MakeSchedule("gpipe", {2, 2}), {{rank, &stages[rank]}},
                        {.loss = tiny::Loss});
      executor.AgreeOnShapes(tiny::InputSpecs(4, 2));
    });
  } catch (const BadInput& e) {
    return e.what();
  }
  return {};
}

TEST(Executor, ABlockThatReadsElementsOutsideOfADoorIsToldWhereTheyBelong) {
  using Vars = std::vector<Variable>;
  const std::string where = "rank 0, stage 0, before step 0: block 0 (mine): ";
  EXPECT_EQ(ErrorOfForward([](const Vars& x, const StepContext&) {
              Tensor y = Empty(x[0].shape());
              y.mutable_data<float>()[0] = x[0].data().data<float>()[0];
              return Vars{Variable(y)};
            }),
            where +
                "[data] f32 (2, 5) on meta has a shape and no values: if a model made it, call "
                "Initialize or load weights first; an op reads and writes elements inside Dispatch "
                "(runtime/dispatch.h)");
  EXPECT_EQ(ErrorOfForward([](const Vars& x, const StepContext&) {
              return ToVector<float>(x[0].data())[0] > 0 ? x : Vars{};
            }),
            where +
                "[copy] f32 (2, 5) on meta has a shape and no values that f32 (2, 5) on cpu could "
                "take: if a model made it, call Initialize or load weights first; an op reads "
                "elements inside Dispatch (runtime/dispatch.h)");
  EXPECT_EQ(ErrorOfForward([](const Vars& x, const StepContext&) {
              Tensor y = Empty(x[0].shape(), DType::kF32, x[0].data().device());
              Dispatch("mine", y.device(),
                       [&] { y.mutable_data<float>()[0] = x[0].data().data<float>()[0]; });
              return Vars{Variable(y)};
            }),
            "");
}

TEST(Executor, AMicroBatchLargerThanAgreedIsAnError) {
  try {
    RunRanks(2, [](Transport& transport) {
      std::vector<Stage> stages = MakeStages(tiny::MakeBlocks(1), {4});
      const int rank = transport.rank();
      Executor executor(transport, MakeSchedule("gpipe", {2, 2}), {{rank, &stages[rank]}},
                        {.loss = tiny::Loss});
      executor.AgreeOnShapes(tiny::InputSpecs(4, 2));
      executor.Run(tiny::MakeBatch(0, 6, 2), RunMode::kTrain);
    });
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(
        e.what(),
        "rank 1, stage 1, step 0, micro-batch 0, receive of an activation (1recvA0<0): [pipeline] "
        "activation from stage 0 to stage 1, micro-batch 0, step 0: tensor 0: agreed on at most "
        "f32 "
        "(2, 6), got f32 (3, 6)");
  }
}

}  // namespace
}  // namespace torus::parallel
