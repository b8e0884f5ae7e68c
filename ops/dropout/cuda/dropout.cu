#include "ops/dropout/cuda/dropout.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/random_streams.h"

namespace torus::cuda {
namespace {

// One block of four words: four elements of a sample, fewer at its end.
struct MaskBlock {
  int64_t count, blocks;  // of a sample
  uint64_t threshold;
  const StreamPlace* streams;
  uint8_t* keep;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, blocks);
    const PhiloxWords words = streams[at.quotient].Block(at.rest);
    const int64_t first = 4 * at.rest;
    uint8_t* const to = keep + at.quotient * count + first;
    for (int k = 0; k < 4; ++k)
      if (first + k < count) to[k] = words.word[k] >= threshold;
  }
};

// 16 bits are multiplied in f32 and rounded once.
template <class T>
struct Dropped {
  SumOf<T> factor;
  const T* x;
  const uint8_t* keep;
  T* y;
  __device__ void operator()(int64_t i) const {
    const SumOf<T> wide = ElementCast<SumOf<T>, T>()(x[i]);
    y[i] = ElementCast<T, SumOf<T>>()(keep[i] != 0 ? wide * factor : SumOf<T>(0));
  }
};

template <class T>
void ApplyOf(const Tensor& x, const Tensor& keep, double scale, Tensor& y, StreamHandle stream) {
  ForEach("dropout", x.numel(), stream,
          Dropped<T>{static_cast<SumOf<T>>(scale), Elements<T>(x), Elements<uint8_t>(keep),
                     MutableElements<T>(y)});
}

}  // namespace

void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep,
                 StreamHandle stream) {
  if (keep.numel() == 0) return;
  const Tensor there = HandOverStreams("dropout", streams, keep.device(), stream);
  const int64_t samples = std::ssize(streams), count = keep.numel() / samples;
  const int64_t blocks = (count + 3) / 4;
  ForEach("dropout", samples * blocks, stream,
          MaskBlock{count, blocks, threshold, StreamsIn(there), MutableElements<uint8_t>(keep)});
}

void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y,
                  StreamHandle stream) {
  if (x.dtype() == DType::kBF16) return ApplyOf<BFloat16>(x, keep, scale, y, stream);
  if (x.dtype() == DType::kF16) return ApplyOf<Float16>(x, keep, scale, y, stream);
  VisitCompute("dropout", x.dtype(),
               [&]<class T>(ComputeType<T>) { ApplyOf<T>(x, keep, scale, y, stream); });
}

}  // namespace torus::cuda
