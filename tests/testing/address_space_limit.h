// A bound on the test's own address space, as `ulimit -v` sets it.
#pragma once

#include <sys/resource.h>

#include <cstddef>

#include "runtime/address_space.h"

namespace torus::testing {

// While it lives, the process may map `bytes` more than it has. Not for sanitized programs, which
// map terabytes.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(size_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    constexpr size_t kMost = size_t{1} << 46;
    rlimit limit{kMost, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = kMost - FreeAddressSpace() + bytes;
    ::setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace torus::testing
