#include "parallel/transport/emulated_link.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// When each of `count` messages of `bytes` has arrived, in seconds from the first send on.
std::vector<double> Arrivals(const LinkTable& links, int count, size_t bytes) {
  std::vector<double> arrivals;
  double begin = 0;
  InProcessWorld world(2);
  RunRanks(world, [&](Transport& inner) {
    EmulatedLink link(inner, links);
    std::vector<char> data(bytes);
    std::vector<Pending> sent;
    if (link.rank() == 0) {
      begin = Seconds();
      for (int i = 0; i < count; ++i)
        sent.push_back(link.Send(1, {TagClass::kUser, i}, {data.data(), bytes}, "data"));
      for (Pending& pending : sent) pending.Wait();
    } else {
      for (int i = 0; i < count; ++i) {
        link.Recv(0, {TagClass::kUser, i}, {data.data(), bytes}, "data").Wait();
        arrivals.push_back(Seconds());
      }
    }
  });
  for (double& arrival : arrivals) arrival -= begin;
  return arrivals;
}

// No message comes before the link could have carried it. That it comes soon after is measured by
// tools/bench, not here.
TEST(EmulatedLink, AMessageTakesItsBytesAndTheLatency) {
  const std::vector<double> arrivals =
      Arrivals(LinkTable({.latency = 0.02, .bandwidth = 1e6}), 3, 10'000);
  for (int i = 0; i < 3; ++i) EXPECT_GE(arrivals[i], 0.02 + 0.01 * (i + 1));
}

TEST(EmulatedLink, AWindowBoundsIt) {
  // 1000 bytes a round trip of 20 ms.
  const std::vector<double> arrivals =
      Arrivals(LinkTable({.latency = 0.01, .bandwidth = 1e9, .window = 1000}), 1, 2000);
  EXPECT_GE(arrivals[0], 0.01 + 0.04);
}

TEST(EmulatedLink, OtherDirectionsAreFree) {
  LinkTable links;
  links.Set(1, 0, {.latency = 3600});
  Arrivals(links, 1, 10);  // ends
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

// Waiting for a link is progress: 12 s pass though nobody may be silent for 10 s, which a loaded
// machine keeps.
TEST(EmulatedLink, ASlowLinkIsNoTimeout) {
  InProcessWorld world(2, {.timeout = 10});
  const LinkTable links({.latency = 12});
  RunRanks(world, [&](Transport& inner) {
    EmulatedLink link(inner, links);
    int value = 7 * link.rank(), got = -1;
    Pending sent = link.Send(1 - link.rank(), {}, {&value, sizeof value}, "value");
    link.Recv(1 - link.rank(), {}, {&got, sizeof got}, "value").Wait();
    sent.Wait();
    EXPECT_EQ(got, 7 * (1 - link.rank()));
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
