// Faults in the middle of an all-reduce, after some of its chunks have been sent.
#include <atomic>
#include <memory>

#include "parallel/transport/decorated_transport.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/fault.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

// Passes everything on, and calls `act` right before its rank sends a certain chunk of an
// all-reduce.
class FaultyTransport : public DecoratedTransport {
 public:
  struct Fault {
    std::atomic<bool> armed{false};
    std::atomic<int> chunks_left{0};  // to send before the fault
    std::function<void()> act;
  };
  FaultyTransport(Transport& transport, std::shared_ptr<Fault> fault)
      : DecoratedTransport(transport), fault_(std::move(fault)) {}

  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (tag.kind == TagClass::kCollective && fault_->armed && fault_->chunks_left-- == 0)
      fault_->act();
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }

 private:
  std::shared_ptr<Fault> fault_;
};

// Of three replicas each sends four chunks: 0 and 1 in the reduce-scatter, 2 and 3 in the
// all-gather. A direct one may begin within the last backward.
struct AllReduceFault {
  int stages, stage, chunk;
  const char* half;  // in which a neighbour waits; empty: in one or the other
  const char* collectives = "direct";
};

const std::vector<AllReduceFault> kFaults = {{1, 0, 1, ""},
                                             {1, 0, 3, "all-gather"},
                                             {2, 0, 1, ""},
                                             {1, 0, 1, "reduce-scatter", "ring"},
                                             {1, 0, 3, "all-gather", "ring"},
                                             {2, 1, 3, "", "ring"}};

// Of replica 0's rank.
Failures StartFaults(const std::function<void()>& act, double timeout) {
  return StartAllUntilFailure(kFaults, [=](const AllReduceFault& param) {
    const auto fault = std::make_shared<FaultyTransport::Fault>();
    fault->act = act;
    fault->chunks_left = param.chunk;
    ToyRun run;
    run.options = {.stages = param.stages,
                   .replicas = 3,
                   .micro_batches = 2,
                   .collectives = param.collectives,
                   .timeout = timeout};
    run.options.before_action = [=](const RankPlace& place, const Action& action, int64_t step) {
      if (place.rank == param.stage && step == kFaultStep && action.kind == ActionKind::kForward)
        fault->armed = true;
    };
    run.options.wrap_transport = [=](Transport& transport) {
      const auto none = std::make_shared<FaultyTransport::Fault>();
      return std::make_unique<FaultyTransport>(transport,
                                               transport.rank() == param.stage ? fault : none);
    };
    return run;
  });
}

TEST(MiddleOfAllReduce, ExceptionEndsAllAndSaysWhere) {
  const Failures failures = StartFaults([] { throw BadInput("[test] injected"); }, kNoTimeout);
  for (size_t i = 0; i < kFaults.size(); ++i)
    ExpectSays(failures[i].get(),
               {"[test] injected", "step 2", "replica 0", fmt::format("rank {}", kFaults[i].stage),
                fmt::format("stage {}", kFaults[i].stage)});
}

TEST(MiddleOfAllReduce, StopEndsAllAndSaysWhoWaitedForWhat) {
  const Failures failures = StartFaults(StandStill, kTimeout);
  for (size_t i = 0; i < kFaults.size(); ++i) {
    ExpectSays(failures[i].get(), {"replica ", "step ", "stage ", "waiting for rank",
                                   fmt::format("rank {} shows no progress", kFaults[i].stage)});
    // With one stage nobody waits for anything but the all-reduce.
    if (kFaults[i].stages > 1) continue;
    ExpectSays(failures[i].get(),
               {"step 2", "stage 0", "for rank 0", "all-reduce of bucket 0", kFaults[i].half});
  }
}

TEST(FaultDeathTest, EndlessStopInAnAllReduceEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ToyRun run;
  run.options = {.replicas = 3, .timeout = kTimeout, .grace = 2};
  const auto fault = std::make_shared<FaultyTransport::Fault>();
  fault->act = [] { std::this_thread::sleep_for(std::chrono::hours(1)); };
  fault->chunks_left = 1;
  run.options.before_action = [=](const RankPlace&, const Action& action, int64_t step) {
    if (step == kFaultStep && action.kind == ActionKind::kForward) fault->armed = true;
  };
  run.options.wrap_transport = [=](Transport& transport) {
    const auto none = std::make_shared<FaultyTransport::Fault>();
    return std::make_unique<FaultyTransport>(transport, transport.rank() == 1 ? fault : none);
  };
  EXPECT_EXIT(EndAtStuckRank(run), ::testing::ExitedWithCode(1),
              "rank 1 did not stop .*step 2, .*all-reduce of bucket 0.*rank 1 shows no progress");
}

}  // namespace
}  // namespace torus::parallel
