#include "runtime/host_wait.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace torus {
namespace {

// A host that waits for a GPU is alive, and is not torn away from memory that the GPU still uses.
TEST(HostWait, TicksUntilItIsOver) {
  ProgressCounter counter;
  counter.on_tick = [] { throw std::runtime_error("stop"); };
  counter.watched = true;
  SetProgressCounter(&counter);
  WaitAlive([&] { return counter.ticks >= 20; });
  SetProgressCounter(nullptr);
  EXPECT_EQ(counter.ticks, 20u);
}

TEST(HostWait, WaitsForNothingWithoutACounter) {
  WaitAlive([] { return false; });
}

}  // namespace
}  // namespace torus
