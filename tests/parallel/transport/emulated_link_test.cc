#include "parallel/transport/emulated_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "parallel/transport/decorated_transport.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/progress.h"
#include "tests/parallel/transport/waited_time.h"

namespace torus::parallel {
namespace {

using testing::WaitedTime;

// When each of `count` messages of `bytes`, all sent at 0, has arrived, in seconds.
std::vector<double> Arrivals(const LinkTable& links, int count, size_t bytes) {
  std::vector<double> arrivals;
  const WaitedTime time;
  InProcessWorld world(2);
  RunRanks(world, [&](Transport& inner) {
    EmulatedLink link(inner, links, 0, &time);
    std::vector<char> data(bytes);
    std::vector<Pending> sent;
    if (link.rank() == 0) {
      for (int i = 0; i < count; ++i)
        sent.push_back(link.Send(1, {TagClass::kUser, i}, {data.data(), bytes}, "data"));
      // Past the link: now all are sent.
      inner.Send(1, {TagClass::kUser, count}, {data.data(), 1}, "go").Wait();
      for (Pending& pending : sent) pending.Wait();
    } else {
      inner.Recv(0, {TagClass::kUser, count}, {data.data(), 1}, "go").Wait();
      for (int i = 0; i < count; ++i) {
        link.Recv(0, {TagClass::kUser, i}, {data.data(), bytes}, "data").Wait();
        arrivals.push_back(time.Now());
      }
    }
  });
  return arrivals;
}

// A rank whose peers are elsewhere.
class AloneOnItsHost : public DecoratedTransport {
 public:
  using DecoratedTransport::DecoratedTransport;
  std::vector<int> SameHost() const override { return {rank()}; }
};

// Its arrival times are those of one clock: another host's would be days away.
TEST(EmulatedLink, IsRefusedBetweenHosts) {
  InProcessWorld world(3);
  RunRanks(world, [](Transport& inner) {
    AloneOnItsHost transport(inner);
    try {
      EmulatedLink link(transport, LinkTable({.latency = 0.01}));
      FAIL() << "emulated between hosts";
    } catch (const BadInput& error) {
      EXPECT_NE(std::string(error.what()).find("2 of the 3 ranks are on other hosts than rank"),
                std::string::npos)
          << error.what();
    }
  });
}

// Neither earlier nor later than the link can have carried it. How late the system's sleep ends is
// measured by tools/bench.
TEST(EmulatedLink, AMessageTakesItsBytesAndTheLatency) {
  const std::vector<double> arrivals =
      Arrivals(LinkTable({.latency = 0.02, .bandwidth = 1e6}), 3, 10'000);
  for (int i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(arrivals[i], 0.02 + 0.01 * (i + 1));
}

TEST(EmulatedLink, AWindowBoundsIt) {
  // 1000 bytes a round trip of 20 ms.
  const std::vector<double> arrivals =
      Arrivals(LinkTable({.latency = 0.01, .bandwidth = 1e9, .window = 1000}), 1, 2000);
  EXPECT_DOUBLE_EQ(arrivals[0], 0.01 + 0.04);
}

TEST(EmulatedLink, JitterStaysInItsRange) {
  const std::vector<double> arrivals =
      Arrivals(LinkTable({.latency = 0.5, .bandwidth = 1e6, .jitter = 0.25}), 20, 1000);
  for (int i = 0; i < 20; ++i) {
    EXPECT_GE(arrivals[i], 0.5 + 0.001 * (i + 1));
    EXPECT_LE(arrivals[i], 0.5 + 0.001 * (i + 1) + 0.25);
  }
}

// By the system's clock no message comes before the link could have carried it.
TEST(EmulatedLink, SleepsByTheSteadyClock) {
  InProcessWorld world(2);
  RunRanks(world, [](Transport& inner) {
    EmulatedLink link(inner, LinkTable({.latency = 0.02, .bandwidth = 1e6}));
    const LinkTime time;
    std::vector<double> sent_at(1250);  // 10,000 bytes
    const size_t bytes = sent_at.size() * sizeof(double);
    if (link.rank() == 0) {
      sent_at[0] = time.Now();
      link.Send(1, {}, {sent_at.data(), bytes}, "data").Wait();
    } else {
      link.Recv(0, {}, {sent_at.data(), bytes}, "data").Wait();
      EXPECT_GE(time.Now() - sent_at[0], 0.02 + 0.01);
    }
  });
}

TEST(EmulatedLink, OtherDirectionsAreFree) {
  LinkTable links;
  links.Set(1, 0, {.latency = 3600});
  EXPECT_EQ(Arrivals(links, 1, 10), std::vector<double>{0});
}

TEST(EmulatedLink, AnAbortEndsTheWaitForASlowMessage) {
  InProcessWorld world(2);
  const LinkTable links({.latency = 3600});
  EXPECT_THROW(RunRanks(world,
                        [&](Transport& inner) {
                          EmulatedLink link(inner, links);
                          int value = 0;
                          Pending sent;
                          if (link.rank() == 0) {
                            sent = link.Send(1, {}, {&value, sizeof value}, "value");
                            sent.Wait();
                            link.Abort("enough");
                          } else {
                            link.Recv(0, {}, {&value, sizeof value}, "value").Wait();
                          }
                        }),
               BrokenEnvironment);
}

// Each look at it is a slice of a sleep later.
class SlicedTime : public LinkTime {
 public:
  double Now() const override { return 1e-3 * ++looks_; }

 private:
  mutable std::atomic<int> looks_ = 0;
};

// Waiting for a link is progress, by which others renew their deadlines: so a link may be slower
// than they wait. Of 50 slices none passes without.
TEST(EmulatedLink, EverySliceOfAWaitIsProgress) {
  InProcessWorld world(1);
  RunRanks(world, [](Transport& transport) {
    ProgressCounter counter, *const before = CurrentProgress();
    SetProgressCounter(&counter);
    const SlicedTime time;
    time.SleepUntil(0.05, transport);
    SetProgressCounter(before);
    EXPECT_GE(counter.ticks, 48u);
  });
}

TEST(EmulatedLink, CountsThePayloadAlone) {
  InProcessWorld world(2);
  RunRanks(world, [&](Transport& inner) {
    EmulatedLink link(inner, LinkTable());
    std::vector<char> data(100);
    Pending sent = link.Send(1 - link.rank(), {}, {data.data(), data.size()}, "data");
    std::vector<char> got(100);
    link.Recv(1 - link.rank(), {}, {got.data(), got.size()}, "data").Wait();
    sent.Wait();
    EXPECT_EQ(link.BytesSent(1 - link.rank(), TagClass::kUser), 100u);
  });
}

TEST(EmulatedLink, RefusesARankThatThereIsNot) {
  InProcessWorld world(2);
  LinkTable links;
  links.Set(0, 2, {});
  EXPECT_THROW(EmulatedLink(world.transport(0), links), BadInput);
}

TEST(EmulatedLink, RefusesOneOverAnother) {
  InProcessWorld world(2);
  EmulatedLink link(world.transport(0), LinkTable()), twice(link, LinkTable());
  EXPECT_THROW((void)twice.Send(1, {}, {}, "x"), BadInput);
}

}  // namespace
}  // namespace torus::parallel
