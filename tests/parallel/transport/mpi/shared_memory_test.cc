#include "parallel/transport/mpi/shared_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace torus::parallel {
namespace {

constexpr size_t kBytes = 10'000;

TEST(SharedMemory, AnotherProcessReadsAndWritesIt) {
  const SharedMemory made = SharedMemory::Make(kBytes);
  ASSERT_EQ(made.bytes().size(), kBytes);
  made.bytes()[100] = std::byte{7};
  const pid_t child = fork();
  if (child == 0) {
    const SharedMemory opened = SharedMemory::Open(made.address(), kBytes);
    if (opened.empty() || opened.bytes()[100] != std::byte{7}) _exit(1);
    opened.bytes()[101] = std::byte{8};
    _exit(0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(made.bytes()[101], std::byte{8});
}

TEST(SharedMemory, StaysWithWhoHasOpenedItWhenItsMakerIsGone) {
  SharedMemory made = SharedMemory::Make(kBytes);
  const SharedMemory opened = SharedMemory::Open(made.address(), kBytes);
  made.bytes()[100] = std::byte{7};
  const SharedMemory::Address address = made.address();
  made = SharedMemory();
  ASSERT_FALSE(opened.empty());
  EXPECT_EQ(opened.bytes()[100], std::byte{7});
  EXPECT_TRUE(SharedMemory::Open(address, kBytes).empty());
}

TEST(SharedMemory, WhatIsSomethingElseIsRefused) {
  const SharedMemory made = SharedMemory::Make(kBytes);
  SharedMemory::Address address = made.address();
  EXPECT_FALSE(SharedMemory::Open(address, kBytes).empty());
  EXPECT_TRUE(SharedMemory::Open(address, kBytes + 1).empty());  // of another size
  address.token += 2;
  EXPECT_TRUE(SharedMemory::Open(address, kBytes).empty());  // a process of another namespace
  EXPECT_TRUE(SharedMemory::Open({}, kBytes).empty());
}

TEST(SharedMemory, NoneWhereTheSystemHasNoneToGive) {
  EXPECT_TRUE(SharedMemory::Make(size_t{1} << 62).empty());
}

}  // namespace
}  // namespace torus::parallel
