// The memories of the emulated GPUs: each address belongs to one of them, or to the host.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace torus::emulated_gpu {

inline constexpr int kDevices = 2;
// What one GPU has; small, so that running out is quickly tested.
inline constexpr size_t kMemoryBytes = size_t{2} << 30;

// A block filled with NaN bytes (0xff), so that what is read before it is written shows; null where
// the device has no more. Aligned as CUDA's, to 256 bytes.
void* TakeMemory(int device, size_t bytes);
// InternalError for what is no block of the device.
void GiveMemory(int device, void* block);

struct MemoryBlock {
  int device = 0;
  const char* begin = nullptr;
  size_t bytes = 0;
};

// The block in which `address` lies, if any.
std::optional<MemoryBlock> BlockOf(const void* address);

// BrokenEnvironment tagged `what` where [begin, begin + bytes) begins in a GPU's block and ends
// behind it.
void CheckSpan(const char* what, const void* begin, size_t bytes);

// BrokenEnvironment tagged `kernel` where the argument of `bytes` bytes holds an address in the
// memory of another GPU than `device`. Every aligned word is taken for an address: no number that
// kernels are given is as large as one.
void CheckArgument(const std::string& kernel, int device, const void* argument, size_t bytes);

}  // namespace torus::emulated_gpu
