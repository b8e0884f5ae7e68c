#include "runtime/long_work.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

namespace torus {
namespace {

// Computes until the counter has ticked five times, or for a long time.
void ComputeUntilItTicks(const ProgressCounter& counter) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (counter.ticks < 5 && std::chrono::steady_clock::now() < end) {
  }
}

TEST(LongWork, TicksForAThreadThatComputes) {
  ProgressCounter counter;
  SetProgressCounter(&counter);
  {
    const LongWork alive;
    ComputeUntilItTicks(counter);
    EXPECT_GE(counter.ticks, 5u);
  }
  SetProgressCounter(nullptr);
  const uint64_t then = counter.ticks;
  volatile double sum = 0;
  for (int i = 0; i < 50'000'000; ++i) sum = sum + i;
  EXPECT_EQ(counter.ticks, then) << "after its end";
}

// A blocked thread shows no progress from some time on, though it has declared its work.
TEST(LongWork, DoesNotTickForAThreadThatIsBlocked) {
  ProgressCounter counter;
  std::promise<void> release;
  std::thread blocked([&] {
    const LongWork alive(&counter);
    release.get_future().wait();
  });
  uint64_t before = 0;
  int same = 0;  // looks in a row, each ten intervals of the helper long
  for (int look = 0; look < 100 && same < 3; ++look) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    same = counter.ticks == before && before > 0 ? same + 1 : 0;
    before = counter.ticks;
  }
  EXPECT_EQ(same, 3);
  release.set_value();
  blocked.join();
}

// A thread that is to stop is stopped by its own ticks, not by the helper's.
TEST(LongWork, NeverCallsWhatStopsTheThread) {
  ProgressCounter counter;
  int alive_calls = 0;
  counter.on_tick = [] { throw std::runtime_error("stop"); };
  counter.on_alive = [&] { ++alive_calls; };
  counter.watched = true;
  SetProgressCounter(&counter);
  {
    const LongWork alive;
    ComputeUntilItTicks(counter);
  }
  EXPECT_THROW(TickProgress(), std::runtime_error);
  SetProgressCounter(nullptr);
  EXPECT_GE(alive_calls, 5);
}

TEST(LongWork, DoesNothingWithoutACounter) { const LongWork alive; }

}  // namespace
}  // namespace torus
