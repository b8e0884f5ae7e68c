// The address space of the process, which `ulimit -v` (RLIMIT_AS) may limit.
#pragma once

#include <cstddef>
#include <string>

namespace torus {

// Bytes that the process may still map; the largest size_t if there is no limit.
size_t FreeAddressSpace();

// "3.1 MiB of 260.0 MiB of address space are left (ulimit -v)"; empty if there is no limit.
std::string AddressSpaceLeft();

// Bytes that tensors leave free for allocations that cannot fail cleanly: the code that oneDNN
// compiles, thread stacks, and the text of the error itself.
inline constexpr size_t kAddressSpaceReserve = size_t{48} << 20;

}  // namespace torus
