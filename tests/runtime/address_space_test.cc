#include "runtime/address_space.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tests/testing/address_space_limit.h"

#ifndef TORUS_SANITIZER
namespace torus {
namespace {

using testing::AddressSpaceLimit;

constexpr size_t kMiB = size_t{1} << 20;

template <class F>
std::string MessageOf(const F& f) {
  try {
    f();
  } catch (const BrokenEnvironment& error) {
    return error.what();
  }
  return "";
}

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
  EXPECT_NE(MessageOf([&] { allocator.Allocate(50 * kMiB); }).find("(ulimit -v)"),
            std::string::npos);
  allocator.Free(allocator.Allocate(20 * kMiB), 20 * kMiB);
  allocator.ReleaseCached();
}

// libgomp would end the process.
TEST(AddressSpace, ATeamThatCannotBeStartedIsAnError) {
  const int before = TeamSize();
  {
    const AddressSpaceLimit limit(30 * kMiB);
    EXPECT_NE(MessageOf([] { SetTeamSize(200); }).find("cannot start a team of 200 threads"),
              std::string::npos);
  }
  SetTeamSize(before);
}

}  // namespace
}  // namespace torus
#endif
