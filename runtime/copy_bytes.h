// CopyBytes: memcpy for long spans, without a trap of some processors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace torus {

// memcpy. The C library copies long spans by REP MOVSB, which AMD's Zen 3 and 4 carry out 10 to 20
// times slower where the destination lies some bytes behind the source, modulo 4096 (glibc's bug
// 30994). That is common: large buffers of malloc begin 16 bytes into a page, tensors where one
// begins, and gradients lie in a bucket one after the other. Such spans go in blocks so short that
// the library copies each by vectors.
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

// Elements of a type that is no more than its bytes.
template <class T>
void CopyElements(const T* from, int64_t count, T* to) {
  CopyBytes(to, from, static_cast<size_t>(count) * sizeof(T));
}

}  // namespace torus
