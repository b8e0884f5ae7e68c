// Faults of one rank, seen from the application: an exception or a stop in each kind of action, on
// each stage, ends the whole run with a message that says where. The test's own time
// limit catches one that does not end.
#include "tests/parallel/trainer/fault.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

struct Fault {
  ActionKind kind;
  int stage;
  const char* words;  // of the action, in the message
};

std::string NameOf(const Fault& fault) { return fmt::format("{} {}", fault.words, fault.stage); }

const std::vector<Fault> kFaults = {
    {ActionKind::kForward, 0, "forward"},        {ActionKind::kForward, 1, "forward"},
    {ActionKind::kForward, 2, "forward"},        {ActionKind::kBackward, 0, "backward"},
    {ActionKind::kBackward, 1, "backward"},      {ActionKind::kBackward, 2, "backward"},
    {ActionKind::kRecvActivation, 1, "receive"}, {ActionKind::kRecvGradient, 1, "receive"},
    {ActionKind::kReduce, 0, "reduce"},          {ActionKind::kReduce, 1, "reduce"},
    {ActionKind::kReduce, 2, "reduce"}};

// Each fault in a run that calls `act` right before its action, on replica 0.
Failures StartFaults(const std::function<void()>& act, double timeout) {
  return StartAllUntilFailure(kFaults, [=](const Fault& fault) {
    ToyRun run;
    run.options = {.stages = 3, .replicas = 2, .micro_batches = 2, .timeout = timeout};
    run.options.before_action = [=](const RankPlace& place, const Action& action, int64_t step) {
      if (place.replica == 0 && step == kFaultStep && action.kind == fault.kind &&
          action.stage == fault.stage && action.micro_batch <= 0)
        act();
    };
    return run;
  });
}

// Sends float32 as it is, and calls `act` in the encoding or decoding number `at`.
class FaultyCodec : public Codec {
 public:
  FaultyCodec(bool encoding, int at, std::function<void()> act)
      : encoding_(encoding), at_(at), act_(std::move(act)) {}
  std::string name() const override { return "faulty"; }
  size_t MaxEncodedBytes(int64_t count) const override { return count * sizeof(float); }
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    if (encoding_ && at_-- == 0) act_();
    std::memcpy(out.data(), in.data(), in.size_bytes());
    return in.size_bytes();
  }
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    if (!encoding_ && at_-- == 0) act_();
    std::memcpy(out.data(), in.data(), in.size());
  }

 private:
  const bool encoding_;
  int at_;
  const std::function<void()> act_;
};

// Codec faults: of the activations' codec of each rank, encoding or decoding.
const std::vector<std::pair<int, bool>> kCodecFaults = {
    {0, true}, {1, true}, {1, false}, {2, false}};

Failures StartCodecFaults(const std::function<void()>& act, double timeout) {
  return StartAllUntilFailure(kCodecFaults, [=](const std::pair<int, bool>& fault) {
    ToyRun run;
    run.f32 = true;
    run.options = {.stages = 3, .micro_batches = 2, .encodes_beside = false, .timeout = timeout};
    // The trainer asks for two codecs a rank, in the order of ranks; activations first.
    run.options.codec = [=, made = std::make_shared<int>(0)] {
      const bool faulty = (*made)++ == 2 * fault.first;
      return std::make_unique<FaultyCodec>(fault.second, faulty ? 5 : -1, act);
    };
    return run;
  });
}

// The runs that mostly wait: all do it at the same time.
struct Waits {
  Failures slow_actions = StartFaults(WorkSlowly, kSlowTimeout);
  Failures stopped_actions = StartFaults(StandStill, kTimeout);
  Failures stopped_codecs = StartCodecFaults(StandStill, kTimeout);
};

const Waits& AllWaits() {
  static const Waits waits;
  return waits;
}

TEST(ActionFault, ExceptionEndsAllAndSaysWhere) {
  const Failures failures = StartFaults([] { throw BadInput("[test] injected"); }, kNoTimeout);
  for (size_t i = 0; i < kFaults.size(); ++i) {
    SCOPED_TRACE(NameOf(kFaults[i]));
    ExpectSays(failures[i].get(), {"[test] injected", "step 2", kFaults[i].words, "replica 0",
                                   fmt::format("rank {}", kFaults[i].stage),
                                   fmt::format("stage {}", kFaults[i].stage)});
  }
}

TEST(ActionFault, StopEndsAllAndSaysWhoWaitedForWhat) {
  for (size_t i = 0; i < kFaults.size(); ++i) {
    SCOPED_TRACE(NameOf(kFaults[i]));
    ExpectSays(AllWaits().stopped_actions[i].get(),
               {"step ", "stage ", "waiting for rank", "replica ",
                fmt::format("rank {} shows no progress", kFaults[i].stage)});
  }
}

TEST(ActionFault, SlowButLivingGoesOn) {
  for (size_t i = 0; i < kFaults.size(); ++i)
    EXPECT_EQ(AllWaits().slow_actions[i].get(), "") << NameOf(kFaults[i]);
}

TEST(CodecFault, ExceptionEndsAllAndSaysWhere) {
  const Failures failures = StartCodecFaults([] { throw BadInput("[test] injected"); }, kNoTimeout);
  for (size_t i = 0; i < kCodecFaults.size(); ++i)
    ExpectSays(failures[i].get(), {"[test] injected", "step 2", "micro-batch 1",
                                   fmt::format("stage {}", kCodecFaults[i].first), "activation"});
}

TEST(CodecFault, StopEndsAllAndSaysWhoWaitedForWhat) {
  for (size_t i = 0; i < kCodecFaults.size(); ++i)
    ExpectSays(AllWaits().stopped_codecs[i].get(),
               {"step ", "stage ", "waiting for rank",
                fmt::format("rank {} shows no progress", kCodecFaults[i].first)});
}

TEST(Fault, DataErrorNamesRankAndStep) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .timeout = kNoTimeout};
  Trainer trainer(run.options, run.Parts());
  const BatchFn good = run.Batches();
  try {
    trainer.Train(5, [&](int64_t step, const RankPlace& place) {
      Require(step < 3 || !place.first, "images", "file 7 is damaged");
      return good(step, place);
    });
    FAIL();
  } catch (const BadInput& error) {
    ExpectSays(error.what(), {"rank 0", "step 3", "data", "[images] file 7 is damaged"});
  }
  // Rank 1 may have been stopped at the end of step 2.
  EXPECT_GE(trainer.step(), 2);
  EXPECT_LE(trainer.step(), 3);
}

// A rank far from its next action stops all the same, at the next op: the application gets the
// other rank's error, and all threads have ended.
TEST(Fault, ARankInTheMiddleOfALongForwardStopsWithinAnOp) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .timeout = kNoTimeout};
  std::atomic<bool> in_forward = false;
  std::atomic<int> alive = 0;
  run.options.before_action = [&](const RankPlace& place, const Action& action, int64_t) {
    if (place.rank != 0 || action.kind != ActionKind::kForward || action.micro_batch != 1) return;
    while (!in_forward) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw BadInput("[test] injected");
  };
  TrainingParts parts = run.Parts();
  parts.model = [&] {
    std::vector<Block> blocks = ToyModel(4);
    blocks[2].forward = [&, inner = blocks[2].forward](const std::vector<Variable>& x,
                                                       const StepContext& c) {
      struct Alive {
        explicit Alive(std::atomic<int>& count) : count(count) { ++count; }
        ~Alive() { --count; }
        std::atomic<int>& count;
      };
      const Alive guard(alive);
      in_forward = c.training;
      // Without end, so an op is where it stops.
      while (c.training) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        TickProgress();
      }
      return inner(x, c);
    };
    return blocks;
  };
  Trainer trainer(run.options, parts);
  try {
    trainer.Train(1, run.Batches());
    FAIL();
  } catch (const BadInput& error) {
    ExpectSays(error.what(), {"rank 0, stage 0, step 0, micro-batch 1", "[test] injected"});
  }
  EXPECT_EQ(alive, 0);
}

// A thread that never comes back cannot be stopped: the error says which it is.
TEST(FaultDeathTest, EndlessStopEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .timeout = kTimeout, .grace = 2};
  run.options.before_action = [](const RankPlace&, const Action& action, int64_t step) {
    if (step == kFaultStep && action.kind == ActionKind::kForward && action.stage == 1)
      std::this_thread::sleep_for(std::chrono::hours(1));
  };
  EXPECT_EXIT(EndAtStuckRank(run), ::testing::ExitedWithCode(1), "rank 1 did not stop");
}

// A thread that was left behind in the end of a step, and comes back, stops before it calls a hook,
// which the application may have given up.
TEST(Fault, ARankThatWasLeftBehindCallsNoHook) {
  const auto release = std::make_shared<std::promise<void>>();
  const auto hooks = std::make_shared<std::atomic<int>>(0);
  auto held = std::make_shared<int>();  // by the trainer's blocks
  const std::weak_ptr<int> left = held;
  ToyRun run;
  run.options = {.timeout = kTimeout, .grace = 1};
  TrainingParts parts = run.Parts();
  parts.model = [held = std::move(held), released = release->get_future().share()] {
    std::vector<Block> blocks = ToyModel(4);
    blocks[0].end_mini_batch = [held, released](bool taken) {
      if (taken) released.wait();
    };
    return blocks;
  };
  {
    Trainer trainer(run.options, std::exchange(parts, {}));
    EXPECT_THROW(trainer.Train(1, run.Batches(), {.on_step = [hooks](const auto&) { ++*hooks; }}),
                 StuckRank);
  }
  release->set_value();
  EXPECT_TRUE(torus::testing::Eventually(std::chrono::seconds(60), [&] { return left.expired(); }));
  EXPECT_EQ(*hooks, 0);
}

}  // namespace
}  // namespace torus::parallel
