#include "runtime/address_space.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/testing/address_space_limit.h"
#include "tests/testing/error_of.h"

#ifndef TORUS_SANITIZER
namespace torus {
namespace {

using testing::AddressSpaceLimit;
using testing::ErrorOf;

constexpr size_t kMiB = size_t{1} << 20;

TEST(AddressSpace, IsWhatTheLimitLeaves) {
  const AddressSpaceLimit limit(100 * kMiB);
  EXPECT_LE(FreeAddressSpace(), 100 * kMiB);
  EXPECT_GE(FreeAddressSpace(), 90 * kMiB);
  EXPECT_NE(AddressSpaceLeft().find("MiB of address space are left (ulimit -v)"),
            std::string::npos);
}

TEST(AddressSpace, TensorsLeaveAReserve) {
  Allocator& allocator = AllocatorFor({});
  const AddressSpaceLimit limit(kAddressSpaceReserve + 40 * kMiB);
  EXPECT_NE(ErrorOf<BrokenEnvironment>([&] { allocator.Allocate(50 * kMiB); }).find("(ulimit -v)"),
            std::string::npos);
  allocator.Free(allocator.Allocate(20 * kMiB), 20 * kMiB);
  allocator.ReleaseCached();
}

// libgomp would end the process. The thread keeps the team that it had, which has its threads.
TEST(AddressSpace, ATeamThatCannotBeStartedIsAnError) {
  SetTeamSize(2);
  const AddressSpaceLimit limit(30 * kMiB);
  EXPECT_NE(ErrorOf<BrokenEnvironment>([] {
              SetTeamSize(200);
            }).find("cannot start a team of 200 threads"),
            std::string::npos);
  EXPECT_EQ(TeamSize(), 2);
  std::atomic<int64_t> covered{0};
  ParallelFor(1000, 1, [&](int64_t begin, int64_t end) { covered += end - begin; });
  EXPECT_EQ(covered, 1000);
}

}  // namespace
}  // namespace torus
#endif
