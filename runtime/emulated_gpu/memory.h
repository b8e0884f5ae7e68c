// The memory of the emulated GPUs: each address belongs to one GPU or to the host.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace torus::emulated_gpu {

inline constexpr int kDevices = 2;
// Memory of one GPU. It is small, so that tests can exhaust it quickly.
inline constexpr size_t kMemoryBytes = size_t{2} << 30;

// Returns a block filled with NaN bytes (0xff), so that reading before writing shows, or null if
// the device has no memory left. Aligned to 256 bytes, like CUDA's.
void* TakeMemory(int device, size_t bytes);
// Throws InternalError if `block` is not a block of the device.
void GiveMemory(int device, void* block);

// From now on blocks hold zeros, take memory of the host only where they are touched, and each GPU
// has so many bytes. Once called, further calls do nothing. Throws InternalError if memory of a GPU
// was taken before, and BrokenEnvironment if the addresses cannot be reserved.
void ReserveMemory(size_t bytes_of_each);
// Whether the address lies in what ReserveMemory reserved.
bool IsReserved(const void* address);

struct MemoryBlock {
  int device = 0;
  const char* begin = nullptr;
  size_t bytes = 0;
};

// The block in which `address` lies, if any.
std::optional<MemoryBlock> BlockOf(const void* address);

// Throws BrokenEnvironment tagged `what` if [begin, begin + bytes) begins in a GPU's block and ends
// beyond it.
void CheckSpan(const char* what, const void* begin, size_t bytes);

// Throws BrokenEnvironment tagged `kernel` if the argument of `bytes` bytes contains an address in
// the memory of a GPU other than `device`. Every aligned word counts as a possible address; no
// number passed to kernels is that large.
void CheckArgument(const std::string& kernel, int device, const void* argument, size_t bytes);

}  // namespace torus::emulated_gpu
