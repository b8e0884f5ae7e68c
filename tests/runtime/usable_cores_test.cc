#include "runtime/usable_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>
#include <vector>

namespace torus {
namespace {

// The numbers of the cores that this thread may use.
std::vector<int> Allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

// What is found by a thread that may use `core` alone.
UsableCores FoundOn(int core) {
  UsableCores found{};
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (::sched_setaffinity(0, sizeof(set), &set) == 0) found = CoresOfProcess();
  }).join();
  return found;
}

TEST(UsableCores, AreThoseThatTheProcessMayUse) {
  const std::vector<int> allowed = Allowed();
  ASSERT_FALSE(allowed.empty());
  EXPECT_EQ(CoresOfProcess().count, std::ssize(allowed));
  EXPECT_EQ(CoresOfProcess().first, allowed.front());
  for (const int core : allowed) {
    EXPECT_EQ(FoundOn(core).count, 1);
    EXPECT_EQ(FoundOn(core).first, core);
  }
}

}  // namespace
}  // namespace torus
