// CUDA's keywords and functions for a host compiler. Kernels are ordinary functions, and a launch
// enqueues a run over their grid (block.h) in a stream (queues.h). Kernels include
// runtime/cuda/kernel.h instead, after all other headers, because CUDA's keywords become macros
// here.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "runtime/device.h"
#include "runtime/emulated_gpu/block.h"
#include "runtime/emulated_gpu/coordinates.h"
#include "runtime/emulated_gpu/memory.h"
#include "runtime/emulated_gpu/queues.h"
#include "runtime/error.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
// Belongs to one block at a time: a thread runs the blocks of its grids one after another. It still
// contains what the previous block wrote; kernels must not rely on that.
#define __shared__ static thread_local

#define TORUS_WHERE_ std::source_location where = std::source_location::current()

inline void __syncthreads(TORUS_WHERE_) { torus::emulated_gpu::WaitForBlock(where); }

inline void __syncwarp(unsigned mask = 0xffffffffu, TORUS_WHERE_) {
  torus::emulated_gpu::ExchangeInWarp(mask, 0, 0, false, where);
}

namespace torus::emulated_gpu {

// Makes the compiler believe that the value goes through memory, so that it cannot fuse the
// operation with a later one.
template <class T>
T Rounded(T value) {
  asm("" : "+m"(value));
  return value;
}

}  // namespace torus::emulated_gpu

// Rounds the product. Otherwise compilers would contract it with a following addition.
inline float __fmul_rn(float a, float b) { return torus::emulated_gpu::Rounded(a * b); }
inline double __dmul_rn(double a, double b) { return torus::emulated_gpu::Rounded(a * b); }

inline unsigned __ballot_sync(unsigned mask, bool vote, TORUS_WHERE_) {
  return torus::emulated_gpu::ExchangeInWarp(mask, 0, 0, vote, where).ballot;
}

inline bool __any_sync(unsigned mask, bool vote, TORUS_WHERE_) {
  return __ballot_sync(mask, vote, where) != 0;
}

namespace torus::emulated_gpu {

// The value of lane `source`, or the lane's own value if `source` is outside of its segment of
// `width` lanes, as in CUDA. A source lane that does not participate is an error, because its value
// would be undefined.
template <class T>
T Shuffle(unsigned mask, T value, int source, int width, std::source_location where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(uint64_t));
  const int segment = Lane() / width;
  if (source < segment * width || source >= (segment + 1) * width) source = Lane();
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  const WarpAnswer answer = ExchangeInWarp(mask, bits, source, false, where);
  TORUS_CHECK(answer.in_mask, "{}:{}: lane {} asks lane {}, which takes no part", where.file_name(),
              where.line(), Lane(), source);
  std::memcpy(&value, &answer.value, sizeof value);
  return value;
}

}  // namespace torus::emulated_gpu

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = warpSize, TORUS_WHERE_) {
  const int first = torus::emulated_gpu::Lane() / width * width;
  return torus::emulated_gpu::Shuffle(mask, value, first + lane % width, width, where);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = warpSize, TORUS_WHERE_) {
  const int from = torus::emulated_gpu::Lane() + static_cast<int>(by);
  return torus::emulated_gpu::Shuffle(mask, value, from, width, where);
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = warpSize, TORUS_WHERE_) {
  const int from = torus::emulated_gpu::Lane() - static_cast<int>(by);
  return torus::emulated_gpu::Shuffle(mask, value, from, width, where);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = warpSize, TORUS_WHERE_) {
  return torus::emulated_gpu::Shuffle(mask, value, torus::emulated_gpu::Lane() ^ bits, width,
                                      where);
}

#undef TORUS_WHERE_

// Not atomic: only one thread runs at a time. Integers only, because float sums would depend on the
// order.
template <class T>
requires std::is_integral_v<T> T atomicAdd(T* at, std::type_identity_t<T> more) {
  const T before = *at;
  *at = static_cast<T>(before + more);
  return before;
}

template <class T>
requires std::is_integral_v<T> T atomicMax(T* at, std::type_identity_t<T> other) {
  const T before = *at;
  if (other > before) *at = other;
  return before;
}

template <class T>
requires std::is_integral_v<T> T atomicMin(T* at, std::type_identity_t<T> other) {
  const T before = *at;
  if (other < before) *at = other;
  return before;
}

inline void __threadfence() {}
inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(uint64_t{a} * b >> 32);
}

namespace torus::cuda {

namespace internal {

// CUDA's limits (CUDA C++ programming guide, "technical specifications per compute capability").
inline void CheckLaunchShape(std::string_view op, dim3 grid, dim3 block, size_t shared_bytes) {
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  const bool fits = grid.x >= 1 && grid.y >= 1 && grid.z >= 1 &&
                    grid.x <= unsigned{std::numeric_limits<int>::max()} && grid.y <= 65535 &&
                    grid.z <= 65535 && threads >= 1 && threads <= 1024 && block.z <= 64 &&
                    shared_bytes <= size_t{48} << 10;
  if (!fits)
    Throw<BrokenEnvironment>(
        op, "launch failed: no grid ({}, {}, {}) of blocks ({}, {}, {}) with {} bytes can run",
        grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes);
}

// Clears the padding, which holds leftover bytes: together with a neighbouring 4-byte value these
// may look like an address.
template <class T>
void CheckValue(const std::string& kernel, int device, T value) {
  __builtin_clear_padding(&value);
  emulated_gpu::CheckArgument(kernel, device, &value, sizeof value);
}

// Aligned, so that a tool finds addresses as whole words.
template <class T>
void AppendValue(std::string& bytes, T value) {
  __builtin_clear_padding(&value);
  bytes.resize((bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T));
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Values>
void Show(emulated_gpu::Observer& observer, const std::string& op, const void* kernel,
          const emulated_gpu::GridShape& shape, const Values& values,
          const std::function<void()>& thread) {
  std::string bytes;
  std::apply([&](const auto&... value) { (AppendValue(bytes, value), ...); }, values);
  observer.OnLaunch({op, kernel, typeid(Values), shape, bytes, thread});
}

}  // namespace internal

// As in runtime/cuda/kernel.h. Throws BrokenEnvironment for a grid that CUDA would refuse, and for
// arguments that point to another GPU's memory.
template <class... Params, class... Args>
void Launch(std::string_view op, dim3 grid, dim3 block, size_t shared_bytes, StreamHandle stream,
            void (*kernel)(Params...), const Args&... args) {
  internal::CheckLaunchShape(op, grid, block, shared_bytes);
  const std::string name(op);
  const std::tuple<std::decay_t<Params>...> values(args...);
  std::apply(
      [&](const auto&... value) {
        (internal::CheckValue(name, emulated_gpu::DeviceOf(stream), value), ...);
      },
      values);
  emulated_gpu::Enqueue(stream, name, [=] {
    const emulated_gpu::GridShape shape{grid, block, shared_bytes};
    const std::function<void()> thread = [&] { std::apply(kernel, values); };
    if (emulated_gpu::Observer* const observer = emulated_gpu::Observed::Current())
      return internal::Show(*observer, name, reinterpret_cast<const void*>(kernel), shape, values,
                            thread);
    emulated_gpu::RunGrid(name, shape, thread);
  });
}

template <class T>
T* DynamicShared() {
  return static_cast<T*>(emulated_gpu::DynamicSharedMemory());
}

}  // namespace torus::cuda
