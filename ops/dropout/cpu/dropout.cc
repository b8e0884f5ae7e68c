#include <algorithm>

#include "ops/dropout/kernels.h"
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

void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep) {
  if (streams.empty()) return;
  const int64_t count = keep.numel() / std::ssize(streams);
  const int64_t chunks = (count + kChunk - 1) / kChunk;
  uint8_t* const to = keep.mutable_data<uint8_t>();
  ParallelFor(std::ssize(streams) * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t sample = task / chunks, first = task % chunks * kChunk;
      MaskChunk(streams[sample], first, std::min(count, first + kChunk), threshold,
                to + sample * count);
    }
  });
}

// Elements are independent, so the split changes no bits.
void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y) {
  VisitCompute("dropout", x.dtype(), [&]<class T>(ComputeType<T>) {
    const T* const from = x.data<T>();
    const uint8_t* const kept = keep.data<uint8_t>();
    T* const to = y.mutable_data<T>();
    // With p = 1 nothing is kept, and the scale, 1 / 0, is never used.
    const T factor = static_cast<T>(scale);
    ParallelFor(x.numel(), 1 << 14, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = kept[i] != 0 ? from[i] * factor : T(0);
    });
  });
}

}  // namespace torus::cpu
