#include "parallel/data_parallel/releasable_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace torus::parallel {
namespace {

// Pages of it that the system holds.
size_t Resident(const ReleasableMemory& memory) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((memory.bytes() + page - 1) / page);
  EXPECT_EQ(mincore(memory.data(), memory.bytes(), pages.data()), 0);
  return static_cast<size_t>(std::ranges::count_if(pages, [](unsigned char p) { return p & 1; }));
}

TEST(ReleasableMemory, ComesAndGoesAtOneAddress) {
  ReleasableMemory memory(1 << 20);
  void* const address = memory.data();
  EXPECT_FALSE(memory.taken());
  EXPECT_EQ(Resident(memory), 0u);
  for (int i = 0; i < 3; ++i) {
    memory.Take();
    EXPECT_TRUE(memory.taken());
    std::fill_n(static_cast<char*>(memory.data()), memory.bytes(), 'x');
    EXPECT_GT(Resident(memory), 0u);
    memory.Release();
    EXPECT_FALSE(memory.taken());
    EXPECT_EQ(Resident(memory), 0u);
    EXPECT_EQ(memory.data(), address);
  }
}

#ifndef TORUS_SANITIZER
TEST(ReleasableMemoryDeathTest, AReadOfWhatIsReleasedEndsTheProcess) {
  ReleasableMemory memory(100);
  memory.Take();
  memory.Release();
  EXPECT_EXIT(static_cast<void>(*static_cast<volatile char*>(memory.data())),
              ::testing::KilledBySignal(SIGSEGV), "");
}
#endif

}  // namespace
}  // namespace torus::parallel
