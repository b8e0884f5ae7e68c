// Passes a few numbers from the CPU to kernels inside kernel launch arguments: in stream order and,
// unlike a copy, without any wait. Only for kernel sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "runtime/cuda/elements.h"
#include "runtime/error.h"
#include "runtime/gpu_graph.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {

inline constexpr int64_t kHandedWords = 504;  // per launch, whose arguments may be up to 4 KiB

struct StoreWords {
  int64_t words[kHandedWords];
  int64_t* to;
  __device__ void operator()(int64_t i) const { to[i] = words[i]; }
};
static_assert(sizeof(int64_t) + sizeof(StoreWords) <= 4096);  // with ForEach's count

template <class T>
std::vector<int64_t> WordsOf(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(int64_t) == 0);
  std::vector<int64_t> words(values.size_bytes() / sizeof(int64_t));
  if (!words.empty()) std::memcpy(words.data(), values.data(), values.size_bytes());
  return words;
}

inline Tensor HandOverWords(std::string_view op, std::span<const int64_t> words, Device device,
                            StreamHandle stream) {
  const int64_t count = std::ssize(words);
  Tensor there({count}, DType::kI64, device);
  int64_t* const to = MutableElements<int64_t>(there);
  for (int64_t first = 0; first < count; first += kHandedWords) {
    StoreWords store{};
    const auto some = words.subspan(first, std::min(kHandedWords, count - first));
    std::ranges::copy(some, store.words);
    store.to = to + first;
    ForEach(op, std::ssize(some), stream, store);
  }
  return there;
}

// Returns the values in memory of `device`, as i64 words; read them with HandedOver. One launch for
// each kHandedWords words (a value may have several), so for short tables. While a graph is
// recorded, the values are kept with the graph and passed only once.
template <class T>
Tensor HandOver(std::string_view op, std::span<const T> values, Device device,
                StreamHandle stream) {
  const std::vector<int64_t> words = WordsOf<T>(values);
  if (GpuGraph* graph = GpuGraph::RecordedHere(device)) return graph->Kept(words);
  return HandOverWords(op, words, device, stream);
}

// The same for the values that make() returns, a std::vector<T>. A recorded graph calls make()
// again before each launch; it must return equally many values.
template <class T, class Make>
Tensor HandOverAnew(std::string_view op, const Make& make, Device device, StreamHandle stream) {
  const std::vector<int64_t> words = WordsOf<T>(make());
  GpuGraph* const graph = GpuGraph::RecordedHere(device);
  if (graph == nullptr) return HandOverWords(op, words, device, stream);
  return graph->Renewed(std::ssize(words), [make](int64_t, std::span<int64_t> to) {
    const std::vector<int64_t> renewed = WordsOf<T>(make());
    TORUS_CHECK(renewed.size() == to.size(), "{} words of a recorded launch are renewed by {}",
                to.size(), renewed.size());
    std::ranges::copy(renewed, to.begin());
  });
}

template <class T>
const T* HandedOver(const Tensor& there) {
  return reinterpret_cast<const T*>(Elements<int64_t>(there));
}

}  // namespace torus::cuda
