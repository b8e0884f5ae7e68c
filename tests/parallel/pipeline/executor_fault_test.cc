// A rank that throws or stops ends the run for all, with a message that says who, where and at
// what; a slow one does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "parallel/data_parallel/data_parallel.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/transport/group.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "tests/parallel/pipeline/pipeline_run.h"
#include "tests/testing/deadline.h"

namespace torus::parallel {
namespace {

using tiny::PipelineRun;
using tiny::TrainPipeline;
using torus::testing::kNoTimeout;
using torus::testing::kSlowTimeout;
using torus::testing::kTimeout;
using torus::testing::StartAll;
using torus::testing::WorkSlowly;

constexpr int kStages = 3, kMicroBatches = 2;

void ExpectHolds(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
  }
}

PipelineRun ThreeStages() {
  return {.schedule = MakeSchedule("gpipe", {kStages, kMicroBatches}),
          .cuts = {2, 4},
          .timeout = kNoTimeout};
}

PipelineRun WithDeadline(PipelineRun run) {
  run.timeout = kTimeout;
  return run;
}

std::string ErrorOf(const PipelineRun& run) {
  try {
    TrainPipeline(run);
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

// Neither works nor ticks until the world has been aborted. (A thread that never looks ends the
// program: run_ranks_test.)
void StandStill(Transport& transport) {
  while (true) {
    transport.ThrowIfAborted();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Calls fault(transport) once, before the action `wanted` of step 1.
PipelineRun WithFault(const Action& wanted, const std::function<void(Transport&)>& fault) {
  PipelineRun run = ThreeStages();
  run.adjust = [=](int, Transport& transport, ExecutorOptions& options) {
    options.before_action = [=, &transport](const Action& action, int64_t step) {
      if (step == 1 && action == wanted) fault(transport);
    };
  };
  return run;
}

class EveryAction : public ::testing::TestWithParam<Action> {};

TEST_P(EveryAction, AnExceptionIsTheFirstErrorAndSaysWhere) {
  const Action action = GetParam();
  const std::string message = ErrorOf(
      WithFault(action, [](Transport&) { Throw<BrokenEnvironment>("test", "a cosmic ray"); }));
  std::string where = fmt::format("rank {}, stage {}, step 1, ", action.stage, action.stage);
  if (action.micro_batch >= 0) where += fmt::format("micro-batch {}, ", action.micro_batch);
  EXPECT_EQ(message, fmt::format("{}{} ({}): [test] a cosmic ray", where, Words(action.kind),
                                 ToString(action)));
}

std::vector<Action> AllActions() {
  std::vector<Action> all;
  for (const auto& actions : MakeSchedule("gpipe", {kStages, kMicroBatches}).ranks) {
    for (const Action& action : actions) {
      if (action.micro_batch != 0) all.push_back(action);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Faults, EveryAction, ::testing::ValuesIn(AllActions()),
                         [](const auto& info) {
                           std::string name = ToString(info.param);
                           for (char& c : name) {
                             if (c == '<' || c == '>') c = '_';
                           }
                           return name;
                         });

// A codec that fails or stands still at its `fatal`-th call.
class FaultyCodec : public Codec {
 public:
  FaultyCodec(bool decode, std::function<void()> fault)
      : decode_(decode), fault_(std::move(fault)) {}
  std::string name() const override { return "faulty"; }
  size_t MaxEncodedBytes(int64_t count) const override { return 4 * count; }
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    if (!decode_ && ++calls_ == kFatal) fault_();
    std::memcpy(out.data(), in.data(), in.size_bytes());
    return in.size_bytes();
  }
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    if (decode_ && ++calls_ == kFatal) fault_();
    std::memcpy(out.data(), in.data(), in.size());
  }

 private:
  static constexpr int kFatal = 3;
  bool decode_;
  std::function<void()> fault_;
  int calls_ = 0;
};

// The codec of `rank` fails in that direction; the others' do not.
PipelineRun WithCodec(int rank, bool activation, bool decode,
                      std::function<void(Transport&)> fault) {
  PipelineRun run = ThreeStages();
  run.adjust = [=](int r, Transport& transport, ExecutorOptions& options) {
    const auto make = [&](bool faulty) {
      return std::make_shared<FaultyCodec>(decode, [=, &transport] {
        if (faulty) fault(transport);
      });
    };
    options.activation_codec = make(r == rank && activation);
    options.gradient_codec = make(r == rank && !activation);
  };
  return run;
}

struct CodecFault {
  int rank;
  bool activation, decode;
  const char* action;
};

const std::vector<CodecFault> kCodecFaults{
    {0, true, false, "send of an activation"},   {1, true, false, "send of an activation"},
    {1, true, true, "receive of an activation"}, {2, true, true, "receive of an activation"},
    {2, false, false, "send of a gradient"},     {1, false, false, "send of a gradient"},
    {1, false, true, "receive of a gradient"},   {0, false, true, "receive of a gradient"}};

// Two replicas of two stages; rank = replica * 2 + stage. `fault` strikes inside the all-reduce of
// one rank.
std::string ErrorOfReduce(int faulty_rank, const std::function<void(Transport&)>& fault,
                          double timeout) {
  InProcessWorld world(4, {.timeout = timeout});
  try {
    RunRanks(world, [&](Transport& transport) {
      const int replica = transport.rank() / 2, stage = transport.rank() % 2;
      Group pipeline(transport, {2 * replica, 2 * replica + 1});
      Group replicas(transport, {stage, stage + 2});
      std::vector<Stage> stages = MakeStages(tiny::MakeBlocks(1), {4});
      Communicator communicator(replicas);
      DataParallel data_parallel(communicator, stages[stage].Parameters());
      ExecutorOptions options{.loss = tiny::Loss};
      options.on_reduce = [&](int, int64_t step) {
        if (transport.rank() == faulty_rank && step == 1) fault(transport);
        data_parallel.ReduceGradients(fmt::format("step {}, stage {}", step, stage), 1);
        return 0.0;
      };
      options.on_step = [&](int, int64_t) {
        tiny::Descend(stages[stage].Parameters());
        return true;
      };
      Executor executor(pipeline, MakeSchedule("gpipe", {2, 2}), {{stage, &stages[stage]}},
                        options);
      executor.AgreeOnShapes(tiny::InputSpecs(8, 4));
      for (int step = 0; step < 3; ++step)
        executor.Run(tiny::MakeBatch(step, 8, 4, replica, 2), RunMode::kTrain);
    });
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

std::vector<Action> ForwardsAndBackwards() {
  std::vector<Action> all;
  for (int stage = 0; stage < kStages; ++stage)
    for (const ActionKind kind : {ActionKind::kForward, ActionKind::kBackward})
      all.push_back({kind, stage, 1});
  return all;
}

tiny::Trained TrainSlowly(const Action& slow) {
  PipelineRun run = WithFault(slow, [](Transport&) { WorkSlowly(); });
  run.timeout = kSlowTimeout;
  return TrainPipeline(run);
}

template <class Result>
using Futures = std::vector<std::shared_future<Result>>;

// The runs that mostly wait: all do it at the same time.
struct Waits {
  Futures<tiny::Trained> slow_actions = StartAll(ForwardsAndBackwards(), TrainSlowly);
  Futures<std::string> stopped_actions = StartAll(AllActions(), [](const Action& action) {
    return ErrorOf(WithDeadline(WithFault(action, StandStill)));
  });
  Futures<std::string> stopped_codecs = StartAll(kCodecFaults, [](const CodecFault& c) {
    return ErrorOf(WithDeadline(WithCodec(c.rank, c.activation, c.decode, StandStill)));
  });
  Futures<std::string> stopped_reduces = StartAll(std::vector<int>{0, 1, 2, 3}, [](int rank) {
    return ErrorOfReduce(rank, StandStill, kTimeout);
  });
};

const Waits& AllWaits() {
  static const Waits waits;
  return waits;
}

TEST(Faults, AStopInAnyActionIsFoundByWhoWaitsForIt) {
  for (size_t i = 0; i < AllActions().size(); ++i) {
    const std::string& message = AllWaits().stopped_actions[i].get();
    // Either a rank waited for the stage, directly or through others, or none did and the watcher
    // of all ranks saw it.
    ExpectHolds(message, {fmt::format("rank {} shows no progress", AllActions()[i].stage)});
    if (message.starts_with("[ranks]")) continue;
    ExpectHolds(message,
                {"gave up after", "waiting for rank", " bytes, tag ", ", stage ", ", step "});
  }
}

TEST(Faults, AMessageNamesWhatWasWaitedFor) {
  const std::vector<Action> actions = AllActions();
  const auto forward = std::ranges::find(actions, Action{ActionKind::kForward, 1, 1});
  ASSERT_NE(forward, actions.end());
  const std::string& message = AllWaits().stopped_actions[forward - actions.begin()].get();
  // Rank 0 waits for the gradient of micro-batch 0, rank 2 for the activation of micro-batch 1;
  // either may be first.
  ExpectHolds(message, {"step 1", "rank 1 to send", "rank 1 shows no progress"});
  const bool rank_0 =
      message.find("gradient from stage 1 to stage 0, micro-batch 0, step 1") != std::string::npos;
  const bool rank_2 = message.find("activation from stage 1 to stage 2, micro-batch 1, step 1") !=
                      std::string::npos;
  EXPECT_TRUE(rank_0 || rank_2) << message;
}

TEST(Faults, ASlowButLivingStageGoesOn) {
  for (const auto& trained : AllWaits().slow_actions)
    EXPECT_EQ(trained.get(), tiny::TrainPlain(3, 10, kMicroBatches));
}

TEST(Faults, AnExceptionOfTheStandardLibraryIsOursWithAPlace) {
  try {
    TrainPipeline(WithFault({ActionKind::kBackward, 2, 1},
                            [](Transport&) { throw std::runtime_error("boom"); }));
    FAIL();
  } catch (const InternalError& e) {
    EXPECT_STREQ(e.what(), "rank 2, stage 2, step 1, micro-batch 1, backward (2B1): boom");
  }
}

TEST(Faults, ACodecThatThrowsOrStops) {
  for (size_t i = 0; i < kCodecFaults.size(); ++i) {
    const CodecFault& c = kCodecFaults[i];
    const std::string thrown = ErrorOf(WithCodec(
        c.rank, c.activation, c.decode, [](Transport&) { Throw<BadInput>("codec", "cannot"); }));
    ExpectHolds(thrown, {fmt::format("rank {}, stage {}, step ", c.rank, c.rank), "micro-batch",
                         c.action, "[codec] cannot"});
    ExpectHolds(AllWaits().stopped_codecs[i].get(),
                {fmt::format("rank {} shows no progress", c.rank)});
  }
}

TEST(Faults, ACodecThatThrowsBesideTheRank) {
  for (const auto& [rank, activation] : {std::pair{0, true}, {1, true}, {2, false}, {1, false}}) {
    PipelineRun run =
        WithCodec(rank, activation, false, [](Transport&) { Throw<BadInput>("codec", "cannot"); });
    run.adjust = [adjust = run.adjust](int r, Transport& transport, ExecutorOptions& options) {
      adjust(r, transport, options);
      options.encodes_beside = true;
    };
    ExpectHolds(ErrorOf(run),
                {fmt::format("rank {}, stage {}", rank, rank), "micro-batch",
                 activation ? "activation from" : "gradient from", "step ", "[codec] cannot"});
  }
}

// Fails in its first call. Each takes a while.
class FirstFails : public Codec {
 public:
  explicit FirstFails(std::atomic<bool>& busy) : busy_(busy) {}
  std::string name() const override { return "first fails"; }
  size_t MaxEncodedBytes(int64_t count) const override { return 4 * count; }
  size_t Encode(std::span<const float> in, std::span<std::byte>) override {
    if (calls_++ == 0) {
      // Meanwhile the rank orders the next ones.
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      Throw<BadInput>("codec", "cannot");
    }
    busy_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    busy_ = false;
    return in.size_bytes();
  }
  void Decode(std::span<const std::byte>, std::span<float>) override {}

 private:
  std::atomic<bool>& busy_;
  int calls_ = 0;
};

// The caller may destroy the batch, of whose samples codecs read.
TEST(Faults, NoCodecIsBusyBesideARankThatHasFailed) {
  std::atomic<bool> busy = false;
  InProcessWorld world(2, {.timeout = kNoTimeout});
  const auto run = [&](Transport& transport) {
    const int rank = transport.rank();
    std::vector<Stage> stages = MakeStages(tiny::MakeBlocks(1), {4});
    ExecutorOptions options{.loss = tiny::Loss};
    options.encodes_beside = true;
    options.activation_codec = std::make_shared<FirstFails>(busy);
    options.on_step = [](int, int64_t) { return true; };
    Executor executor(transport, MakeSchedule("gpipe", {2, 4}), {{rank, &stages[rank]}}, options);
    executor.AgreeOnShapes(tiny::InputSpecs(8, 4));
    try {
      executor.Run(tiny::MakeBatch(0, 8, 4, 0, 1), RunMode::kTrain);
    } catch (...) {
      EXPECT_FALSE(rank == 0 && busy);
      throw;
    }
  };
  EXPECT_THROW(RunRanks(world, run), BadInput);
}

TEST(Faults, InTheAllReduceOfEachRank) {
  for (int rank = 0; rank < 4; ++rank) {
    ExpectHolds(ErrorOfReduce(
                    rank, [](Transport&) { Throw<BadInput>("test", "no"); }, kNoTimeout),
                {fmt::format("rank {}, stage {}, step 1, all-reduce of gradients", rank, rank % 2),
                 "[test] no"});
    // Its replica waits in the all-reduce, its neighbour in the pipeline in the next step: either
    // may be first.
    const std::string& stopped = AllWaits().stopped_reduces[rank].get();
    ExpectHolds(stopped, {fmt::format("rank {} shows no progress", rank), "gave up after"});
    const bool replica = stopped.find("all-reduce of bucket 0 (layer") != std::string::npos;
    const bool neighbour = stopped.find("micro-batch 0, step 2") != std::string::npos;
    EXPECT_TRUE(replica || neighbour) << stopped;
  }
}

}  // namespace
}  // namespace torus::parallel
