// The address space of the process, which `ulimit -v` (RLIMIT_AS) may bound.
#pragma once

#include <cstddef>
#include <string>

namespace torus {

// Bytes that the process may still map; the largest size_t where there is no limit.
size_t FreeAddressSpace();

// "3.1 MiB of 260.0 MiB of address space are left (ulimit -v)"; empty where there is no limit.
std::string AddressSpaceLeft();

// What tensors leave free for others who cannot fail in good order: the code that oneDNN compiles,
// threads' stacks, the error's own message. In bytes.
inline constexpr size_t kAddressSpaceReserve = size_t{48} << 20;

}  // namespace torus
