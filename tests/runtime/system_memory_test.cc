#include "runtime/system_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/allocator.h"
#include "runtime/error.h"

namespace torus {
namespace {

namespace fs = std::filesystem;

// A /proc and a /sys of a test's own.
class SystemMemoryTest : public testing::Test {
 protected:
  ~SystemMemoryTest() override { fs::remove_all(root_); }
  void Write(const std::string& file, const std::string& text) {
    fs::create_directories(fs::path(root_ + file).parent_path());
    std::ofstream(root_ + file) << text << "\n";
  }
  const std::string root_ = testing::TempDir() + "system_memory" + std::to_string(::getpid());
  const size_t machine_ =
      static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
};

TEST_F(SystemMemoryTest, WithoutGroupsItIsTheMachines) { EXPECT_EQ(SystemMemory(root_), machine_); }

TEST_F(SystemMemoryTest, TheLeastOfAGroupAndItsParentsCounts) {
  Write("/proc/self/cgroup", "0::/job/step");
  Write("/sys/fs/cgroup/job/step/memory.max", "max");
  EXPECT_EQ(SystemMemory(root_), machine_);
  Write("/sys/fs/cgroup/job/memory.max", "1000000");
  EXPECT_EQ(SystemMemory(root_), 1000000u);
  Write("/sys/fs/cgroup/job/step/memory.max", "2000000");
  EXPECT_EQ(SystemMemory(root_), 1000000u);
  Write("/sys/fs/cgroup/memory.max", "500000");
  EXPECT_EQ(SystemMemory(root_), 500000u);
}

TEST_F(SystemMemoryTest, TheFirstVersionIsReadToo) {
  Write("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a/b\n3:cpuset:/");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_EQ(SystemMemory(root_), machine_);
  Write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "12345678");
  EXPECT_EQ(SystemMemory(root_), 12345678u);
}

TEST(CpuAllocator, IsLimitedToWhatTheProcessMayUse) {
  const size_t limit = AllocatorFor({}).stats().limit_bytes;
  EXPECT_EQ(limit, SystemMemory() / 8 * 7);
  EXPECT_THROW(AllocatorFor({}).Allocate(limit + 1), BrokenEnvironment);
}

}  // namespace
}  // namespace torus
