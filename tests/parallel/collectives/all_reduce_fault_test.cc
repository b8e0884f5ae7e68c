// A rank that fails or hangs in the middle of an all-reduce ends it for all, and is named.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "tests/parallel/collectives/terms.h"
#include "tests/testing/deadline.h"

namespace torus::parallel {
namespace {

using namespace testing;  // NOLINT: helpers of these tests

constexpr int kRanks = 5, kFaulty = 1;
using ::torus::testing::kNoTimeout, ::torus::testing::kTimeout, ::torus::testing::StartAll;
using Messages = std::vector<std::shared_future<std::string>>;

// Passes everything on, and calls `act` right before the last but one send of a rank's all-reduce.
class FaultyTransport : public DecoratedTransport {
 public:
  FaultyTransport(Transport& inner, int sends, std::function<void()> act)
      : DecoratedTransport(inner), left_(sends), act_(std::move(act)) {}
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    if (left_-- == 2) act_();
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }

 private:
  int left_;
  std::function<void()> act_;
};

class CountingTransport : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;
  Pending Send(int peer, Tag tag, ConstBuffer buffer, std::string what) override {
    ++sends;
    return DecoratedTransport::Send(peer, tag, buffer, std::move(what));
  }
  int sends = 0;
};

void Reduce(Transport& transport, AllReduceAlgorithm algorithm) {
  std::vector<float> data(400'003, 1);
  AllReduce(transport, std::span<float>(data), "sum of the test", algorithm);
}

int SendsOfTheFaultyRank(AllReduceAlgorithm algorithm) {
  int sends = 0;
  RunRanks(kRanks, [&](Transport& t) {
    CountingTransport counting(t);
    Reduce(counting, algorithm);
    if (t.rank() == kFaulty) sends = counting.sends;
  });
  EXPECT_GE(sends, 3);
  return sends;
}

// What a run of ranks ends with.
std::string ErrorOf(double timeout, const std::function<void(Transport&)>& rank) {
  InProcessWorld world(kRanks, {.timeout = timeout});
  try {
    RunRanks(world, rank);
  } catch (const BrokenEnvironment& e) {
    return e.what();
  }
  return "no error";
}

// Where the faulty rank does that to its transport in the middle.
std::string ErrorOfFault(AllReduceAlgorithm algorithm, double timeout,
                         const std::function<void(Transport&)>& act) {
  const int sends = SendsOfTheFaultyRank(algorithm);
  return ErrorOf(timeout, [&](Transport& t) {
    FaultyTransport faulty(t, t.rank() == kFaulty ? sends : 0, [&] { act(t); });
    Reduce(faulty, algorithm);
  });
}

void StandStill(Transport& t) {
  while (true) {
    t.ThrowIfAborted();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class AllReduceFault : public ::testing::TestWithParam<AllReduceAlgorithm> {};

TEST_P(AllReduceFault, AnExceptionEndsItForAll) {
  EXPECT_EQ(ErrorOfFault(GetParam(), kNoTimeout,
                         [](Transport&) { Throw<BrokenEnvironment>("test", "out of paper"); }),
            "[test] out of paper");
}

INSTANTIATE_TEST_SUITE_P(Each, AllReduceFault, ::testing::ValuesIn(EveryAlgorithm()),
                         [](const auto& info) { return TestName(info.param); });

// They mostly wait, so all do it at the same time.
struct Waits {
  std::vector<AllReduceAlgorithm> algorithms = EveryAlgorithm();
  Messages of_hanging = StartAll(algorithms, [](AllReduceAlgorithm algorithm) {
    return ErrorOfFault(algorithm, kTimeout, StandStill);
  });
  Messages of_absent = StartAll(algorithms, [](AllReduceAlgorithm algorithm) {
    return ErrorOf(kTimeout, [&](Transport& t) {
      if (t.rank() == kFaulty) StandStill(t);
      Reduce(t, algorithm);
    });
  });
};

const Waits& AllWaits() {
  static const Waits waits;
  return waits;
}

void ExpectEachSays(const Messages& messages, const std::vector<std::string>& parts) {
  for (size_t i = 0; i < messages.size(); ++i)
    for (const std::string& part : parts)
      EXPECT_NE(messages[i].get().find(part), std::string::npos)
          << TestName(AllWaits().algorithms[i]) << ": " << messages[i].get();
}

// Those who wait for it say for what, themselves or at the end of a chain.
TEST(AllReduceWaits, ARankThatHangsIsNamed) {
  ExpectEachSays(AllWaits().of_hanging, {"gave up after", "waiting for rank", "(sum of the test, ",
                                         "rank 1 shows no progress"});
}

TEST(AllReduceWaits, ARankThatNeverComesIsNamed) {
  ExpectEachSays(AllWaits().of_absent, {"rank 1 shows no progress"});
}

}  // namespace
}  // namespace torus::parallel
