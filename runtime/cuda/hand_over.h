// A few numbers of the CPU's for kernels, which travel among a launch's arguments: in stream order,
// and nothing waits as for a copy. In kernels' sources only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {

inline constexpr int64_t kHandedWords = 256;  // of one launch, whose arguments may be 4 KiB

struct StoreWords {
  int64_t words[kHandedWords];
  int64_t* to;
  __device__ void operator()(int64_t i) const { to[i] = words[i]; }
};

// The values in memory of `device`, as i64 words: for tables of some hundred entries. HandedOver
// reads them.
template <class T>
Tensor HandOver(std::string_view op, std::span<const T> values, Device device,
                StreamHandle stream) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(int64_t) == 0);
  const int64_t count = static_cast<int64_t>(values.size_bytes() / sizeof(int64_t));
  const char* const from = reinterpret_cast<const char*>(values.data());
  Tensor there({count}, DType::kI64, device);
  int64_t* const to = MutableElements<int64_t>(there);
  for (int64_t first = 0; first < count; first += kHandedWords) {
    const int64_t words = std::min(kHandedWords, count - first);
    StoreWords store{};
    std::memcpy(store.words, from + first * static_cast<int64_t>(sizeof(int64_t)),
                static_cast<size_t>(words) * sizeof(int64_t));
    store.to = to + first;
    ForEach(op, words, stream, store);
  }
  return there;
}

template <class T>
const T* HandedOver(const Tensor& there) {
  return reinterpret_cast<const T*>(Elements<int64_t>(there));
}

}  // namespace torus::cuda
