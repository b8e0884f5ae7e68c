#include "ops/dropout/cuda/dropout.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/map_packs.h"
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

template <class T>
struct Dropped {
  SumOf<T> factor;
  __device__ T operator()(T x, uint8_t keep) const {
    return RoundedTo<T>(keep != 0 ? Widened(x) * factor : SumOf<T>(0));
  }
};

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
  VisitFloats("dropout", x.dtype(), [&]<class T>(ComputeType<T>) {
    RunMap("dropout", x.numel(), stream,
           BinaryMap<Dropped<T>, T, T, uint8_t>{{static_cast<SumOf<T>>(scale)},
                                                MutableElements<T>(y),
                                                {Elements<T>(x)},
                                                {Elements<uint8_t>(keep)}});
  });
}

}  // namespace torus::cuda
