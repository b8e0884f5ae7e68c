#include "runtime/address_space.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <limits>
#include <memory>

namespace torus {
namespace {

constexpr size_t kUnlimited = std::numeric_limits<size_t>::max();

size_t Limit() {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : kUnlimited;
}

// The bytes that the system counts against the limit: the first number of statm, in pages.
size_t Mapped() {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/proc/self/statm", "re"),
                                                   std::fclose);
  size_t pages = 0;
  if (!file || std::fscanf(file.get(), "%zu", &pages) != 1) return 0;
  return pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

size_t FreeAddressSpace() {
  const size_t limit = Limit();
  if (limit == kUnlimited) return limit;
  const size_t mapped = Mapped();
  return limit > mapped ? limit - mapped : 0;
}

std::string AddressSpaceLeft() {
  const size_t limit = Limit();
  if (limit == kUnlimited) return "";
  return fmt::format("{:.1f} MiB of {:.1f} MiB of address space are left (ulimit -v)",
                     static_cast<double>(FreeAddressSpace()) / (1 << 20),
                     static_cast<double>(limit) / (1 << 20));
}

}  // namespace torus
