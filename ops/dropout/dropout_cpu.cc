#include <algorithm>

#include "ops/dropout/dropout_kernel.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kChunk = 1 << 10;  // elements of one task; a multiple of the 4 words of a block

void MaskChunk(const RandomStream& stream, int64_t begin, int64_t end, uint64_t threshold,
               uint8_t* keep) {
  uint32_t words[kChunk];
  stream.Blocks(static_cast<uint64_t>(begin / 4), (end - begin + 3) / 4, words);
  for (int64_t i = begin; i < end; ++i) keep[i] = words[i - begin] >= threshold;
}

}  // namespace

void DropoutMask(std::span<const RandomStream> streams, int64_t count, uint64_t threshold,
                 uint8_t* keep) {
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  ParallelFor(std::ssize(streams) * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t sample = task / chunks, first = task % chunks * kChunk;
      MaskChunk(streams[sample], first, std::min(count, first + kChunk), threshold,
                keep + sample * count);
    }
  });
}

// Each element is its own: the split changes no bits.
template <class T>
void DropoutApply(int64_t n, const T* x, const uint8_t* keep, T scale, T* y) {
  ParallelFor(n, 1 << 14, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = keep[i] != 0 ? x[i] * scale : T(0);
  });
}

template void DropoutApply(int64_t, const float*, const uint8_t*, float, float*);
template void DropoutApply(int64_t, const double*, const uint8_t*, double, double*);

}  // namespace torus::cpu
