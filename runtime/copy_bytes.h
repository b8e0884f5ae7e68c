// CopyBytes: memcpy that avoids a slow case of long copies on some processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace torus {

// Like memcpy. For long copies the C library uses REP MOVSB, which AMD's Zen 3 and 4 execute 10 to
// 20 times slower if the destination address is a few bytes above the source address, modulo 4096
// (glibc bug 30994). That is common: large malloc buffers begin 16 bytes into a page, tensors begin
// at a page, and gradients follow each other in a bucket. Such copies are split into blocks so
// short that the library copies each with vector instructions.
inline void CopyBytes(void* to, const void* from, size_t bytes) {
  constexpr size_t kPage = 4096, kNear = 64, kBlock = 2048;
  if (bytes == 0) return;
  const size_t behind =
      (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  if (behind == 0 || behind >= kNear) {
    std::memcpy(to, from, bytes);
    return;
  }
  for (size_t done = 0; done < bytes; done += kBlock)
    std::memcpy(static_cast<char*>(to) + done, static_cast<const char*>(from) + done,
                std::min(kBlock, bytes - done));
}

// Copies elements of a trivially copyable type.
template <class T>
void CopyElements(const T* from, int64_t count, T* to) {
  CopyBytes(to, from, static_cast<size_t>(count) * sizeof(T));
}

}  // namespace torus
