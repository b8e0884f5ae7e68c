// Faults of one rank, seen from the application: an exception or a stop in each kind of action, on
// each stage, ends the whole run with a message that says where. Requirement: within ten seconds of
// the deadline.
#include "tests/parallel/trainer/fault.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

using std::chrono::duration;
using namespace testing;  // NOLINT: helpers of these tests

struct Fault {
  ActionKind kind;
  int stage;
  const char* words;  // of the action, in the message
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.words << fault.stage; }

class ActionFault : public ::testing::TestWithParam<Fault> {
 protected:
  // Calls `act` right before the action of the fault, on replica 0.
  ToyRun RunWith(std::function<void()> act) const {
    ToyRun run;
    run.options = {.stages = 3, .replicas = 2, .micro_batches = 2, .timeout = kTimeout};
    run.options.before_action = [act, fault = GetParam()](const RankPlace& place,
                                                          const Action& action, int64_t step) {
      if (place.replica == 0 && step == kFaultStep && action.kind == fault.kind &&
          action.stage == fault.stage && action.micro_batch <= 0)
        act();
    };
    return run;
  }
};

TEST_P(ActionFault, ExceptionEndsAllAndSaysWhere) {
  const Failure failure = RunUntilFailure(RunWith([] { throw BadInput("[test] injected"); }));
  ExpectSays(failure,
             {"[test] injected", "step 2", GetParam().words, "replica 0",
              fmt::format("rank {}", GetParam().stage), fmt::format("stage {}", GetParam().stage)});
}

TEST_P(ActionFault, StopEndsAllAndSaysWhoWaitedForWhat) {
  const Failure failure = RunUntilFailure(RunWith(StopForAWhile));
  ExpectSays(failure, {"step ", "stage ", "waiting for rank", "replica ",
                       fmt::format("rank {} shows no progress", GetParam().stage)});
}

TEST_P(ActionFault, SlowButLivingGoesOn) {
  const ToyRun run = RunWith([] {
    for (int i = 0; i < 12; ++i) {
      std::this_thread::sleep_for(duration<double>(kTimeout / 6));
      TickProgress();
    }
  });
  EXPECT_EQ(RunUntilFailure(run).message, "");
}

INSTANTIATE_TEST_SUITE_P(Everywhere, ActionFault,
                         ::testing::Values(Fault{ActionKind::kForward, 0, "forward"},
                                           Fault{ActionKind::kForward, 1, "forward"},
                                           Fault{ActionKind::kForward, 2, "forward"},
                                           Fault{ActionKind::kBackward, 0, "backward"},
                                           Fault{ActionKind::kBackward, 1, "backward"},
                                           Fault{ActionKind::kBackward, 2, "backward"},
                                           Fault{ActionKind::kRecvActivation, 1, "receive"},
                                           Fault{ActionKind::kRecvGradient, 1, "receive"},
                                           Fault{ActionKind::kReduce, 0, "reduce"},
                                           Fault{ActionKind::kReduce, 1, "reduce"},
                                           Fault{ActionKind::kReduce, 2, "reduce"}));

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
class CodecFault : public ::testing::TestWithParam<std::pair<int, bool>> {
 protected:
  ToyRun RunWith(std::function<void()> act) const {
    const auto [faulty_rank, encoding] = GetParam();
    ToyRun run;
    run.f32 = true;
    run.options = {.stages = 3, .micro_batches = 2, .timeout = kTimeout};
    // The trainer asks for two codecs a rank, in the order of ranks; activations first.
    const auto made = std::make_shared<int>(0);
    run.options.codec = [=, rank = faulty_rank, encoding = encoding] {
      const bool faulty = (*made)++ == 2 * rank;
      return std::make_unique<FaultyCodec>(encoding, faulty ? 5 : -1, act);
    };
    return run;
  }
};

TEST_P(CodecFault, ExceptionEndsAllAndSaysWhere) {
  const Failure failure = RunUntilFailure(RunWith([] { throw BadInput("[test] injected"); }));
  ExpectSays(failure, {"[test] injected", "step 2", "micro-batch 1",
                       fmt::format("stage {}", GetParam().first), "activation"});
}

TEST_P(CodecFault, StopEndsAllAndSaysWhoWaitedForWhat) {
  const Failure failure = RunUntilFailure(RunWith(StopForAWhile));
  ExpectSays(failure, {"step ", "stage ", "waiting for rank",
                       fmt::format("rank {} shows no progress", GetParam().first)});
}

INSTANTIATE_TEST_SUITE_P(Everywhere, CodecFault,
                         ::testing::Values(std::pair(0, true), std::pair(1, true),
                                           std::pair(1, false), std::pair(2, false)));

TEST(Fault, DataErrorNamesRankAndStep) {
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .timeout = kTimeout};
  Trainer trainer(run.options, run.Parts());
  const BatchFn good = run.Batches();
  try {
    trainer.Train(5, [&](int64_t step, const RankPlace& place) {
      Require(step < 3 || !place.first, "images", "file 7 is damaged");
      return good(step, place);
    });
    FAIL();
  } catch (const BadInput& error) {
    ExpectSays({error.what(), 0}, {"rank 0", "step 3", "data", "[images] file 7 is damaged"});
  }
  EXPECT_EQ(trainer.step(), 3);
}

// A thread that never comes back cannot be stopped: the program says why and ends.
TEST(FaultDeathTest, EndlessStopEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ToyRun run;
  run.options = {.stages = 2, .micro_batches = 2, .timeout = kTimeout};
  run.options.before_action = [](const RankPlace&, const Action& action, int64_t step) {
    if (step == kFaultStep && action.kind == ActionKind::kForward && action.stage == 1)
      std::this_thread::sleep_for(std::chrono::hours(1));
  };
  EXPECT_EXIT(RunUntilFailure(run), ::testing::ExitedWithCode(1), "rank 1 did not stop");
}

}  // namespace
}  // namespace torus::parallel
