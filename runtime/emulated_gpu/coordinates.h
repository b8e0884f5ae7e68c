// CUDA's built-in variables for a thread's position, as kernels read them, on an emulated GPU. The
// scheduler (block.h) sets them whenever it switches to another thread.
#pragma once

// CUDA's own names: outside of any namespace.
struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};

struct dim3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  unsigned x, y, z;
};

inline constinit thread_local uint3 threadIdx{};
inline constinit thread_local uint3 blockIdx{};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};
inline constexpr int warpSize = 32;
