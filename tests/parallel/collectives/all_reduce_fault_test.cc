// A rank that fails or hangs in the middle of an all-reduce ends it for all, and is named.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
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
using ::torus::testing::kNoTimeout, ::torus::testing::kTimeout;

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

class AllReduceFault : public ::testing::TestWithParam<AllReduceAlgorithm> {
 protected:
  void Reduce(Transport& transport) {
    std::vector<float> data(400'003, 1);
    AllReduce(transport, std::span<float>(data), "sum of the test", GetParam());
  }

  // What the run ends with where the faulty rank does that to its transport.
  std::string RunWith(double timeout, const std::function<void(Transport&)>& act) {
    int sends = 0;
    RunRanks(kRanks, [&](Transport& t) {
      CountingTransport counting(t);
      Reduce(counting);
      if (t.rank() == kFaulty) sends = counting.sends;
    });
    EXPECT_GE(sends, 3);
    InProcessWorld world(kRanks, {.timeout = timeout});
    try {
      RunRanks(world, [&](Transport& t) {
        FaultyTransport faulty(t, t.rank() == kFaulty ? sends : 0, [&] { act(t); });
        Reduce(faulty);
      });
    } catch (const BrokenEnvironment& e) {
      return e.what();
    }
    return "no error";
  }
};

TEST_P(AllReduceFault, AnExceptionEndsItForAll) {
  EXPECT_EQ(
      RunWith(kNoTimeout, [](Transport&) { Throw<BrokenEnvironment>("test", "out of paper"); }),
      "[test] out of paper");
}

// Those who wait for it say for what, themselves or at the end of a chain.
TEST_P(AllReduceFault, ARankThatHangsIsNamed) {
  const std::string said = RunWith(kTimeout, [](Transport& t) {
    while (true) {
      t.ThrowIfAborted();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (const char* part :
       {"gave up after", "waiting for rank", "(sum of the test, ", "rank 1 shows no progress"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST_P(AllReduceFault, ARankThatNeverComesIsNamed) {
  InProcessWorld world(kRanks, {.timeout = kTimeout});
  try {
    RunRanks(world, [&](Transport& t) {
      while (t.rank() == kFaulty) {
        t.ThrowIfAborted();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      Reduce(t);
    });
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_NE(std::string(e.what()).find("rank 1 shows no progress"), std::string::npos)
        << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AllReduceFault, ::testing::ValuesIn(EveryAlgorithm()),
                         [](const auto& info) { return TestName(info.param); });

}  // namespace
}  // namespace torus::parallel
