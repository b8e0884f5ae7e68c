#include "parallel/link/link_clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace torus::parallel {
namespace {

void ExpectTimes(const LinkTimes& times, double begin, double free, double arrival) {
  EXPECT_DOUBLE_EQ(times.begin, begin);
  EXPECT_DOUBLE_EQ(times.free, free);
  EXPECT_DOUBLE_EQ(times.arrival, arrival);
}

TEST(LinkClock, CarriesOneMessageAfterTheOther) {
  LinkClock clock({.latency = 0.5, .bandwidth = 2}, 0, 1);
  ExpectTimes(clock.Carry(4, 1), 1, 3, 3.5);
  ExpectTimes(clock.Carry(4, 2), 3, 5, 5.5);      // waits for the first
  ExpectTimes(clock.Carry(2, 10), 10, 11, 11.5);  // finds the link free
}

TEST(LinkClock, AWindowSlowsTheLinkToOneARoundTrip) {
  LinkClock clock({.latency = 0.5, .bandwidth = 100, .window = 10}, 0, 1);
  ExpectTimes(clock.Carry(20, 0), 0, 2, 2.5);
}

TEST(LinkClock, WithoutAModelNothingTakesTime) {
  LinkClock clock({}, 0, 1);
  ExpectTimes(clock.Carry(1e18, 3), 3, 3, 3);
}

// Of messages that are ready so far apart that they cannot meet.
std::vector<double> Delays(LinkClock clock) {
  std::vector<double> delays;
  for (int i = 0; i < 1000; ++i) delays.push_back(clock.Carry(1, 100.0 * i).arrival - 100.0 * i);
  return delays;
}

TEST(LinkClock, JitterIsEvenlyDistributedOverItsRange) {
  double sum = 0, squares = 0;
  for (const double delay : Delays(LinkClock({.latency = 1, .jitter = 4}, 0, 1))) {
    EXPECT_GE(delay, 1 - 1e-9);
    EXPECT_LT(delay, 5);
    sum += delay - 3, squares += (delay - 3) * (delay - 3);
  }
  EXPECT_NEAR(sum / 1000, 0, 0.15);  // four standard deviations of the mean: 4 / sqrt(12 000)
  EXPECT_NEAR(squares / 1000, 16.0 / 12, 0.15);
}

TEST(LinkClock, EachDirectionAndSeedHasItsOwnJitter) {
  const LinkModel link{.jitter = 1};
  const std::vector<double> first = Delays(LinkClock(link, 0, 1));
  EXPECT_EQ(first, Delays(LinkClock(link, 0, 1)));
  for (const LinkClock& other :
       {LinkClock(link, 1, 0), LinkClock(link, 0, 2), LinkClock(link, 0, 1, 1)}) {
    const std::vector<double> delays = Delays(other);
    double product = 0;
    for (int i = 0; i < 1000; ++i) product += (first[i] - 0.5) * (delays[i] - 0.5);
    EXPECT_NEAR(product / 1000, 0,
                0.012);  // four and a half standard deviations: 1/12 / sqrt(1000)
  }
}

TEST(LinkClock, NoMessageOvertakesAnother) {
  LinkClock clock({.jitter = 10}, 0, 1);
  double last = 0;
  for (int i = 0; i < 1000; ++i) {
    const LinkTimes times = clock.Carry(1, 0.1 * i);
    EXPECT_GE(times.arrival, last);
    EXPECT_GE(times.arrival, times.free);
    last = times.arrival;
  }
}

}  // namespace
}  // namespace torus::parallel
