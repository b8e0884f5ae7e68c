// Limits the test's own address space, as `ulimit -v` does.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "runtime/address_space.h"

namespace torus::testing {

// While it lives, the process may map `bytes` more than it has already. The test fails if the limit
// cannot be set. Not for programs with sanitizers, which map terabytes.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(size_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_AS, &before_), 0) << std::strerror(errno);
    const rlim_t most = std::min(rlim_t{1} << 46, before_.rlim_max);
    Set(most);
    Set(most - FreeAddressSpace() + bytes);
  }
  ~AddressSpaceLimit() { Set(before_.rlim_cur); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  void Set(rlim_t bytes) const {
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &limit), 0)
        << "an address space of " << bytes << " bytes: " << std::strerror(errno);
  }

  rlimit before_{};
};

}  // namespace torus::testing
