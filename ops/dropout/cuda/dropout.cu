// With the same bits as on a CPU.
#include <initializer_list>

#include "ops/dropout/kernels.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/map_packs.h"
#include "runtime/cuda/pack_floats.h"
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

// Four neighbouring elements of a sample, which one block of words decides; fewer at its end.
struct FourOfSample {
  int64_t count, blocks;  // of a sample
  uint64_t threshold;
  const StreamPlace* streams;
  bool aligned;  // each four can be loaded at once

  FourOfSample(const ops::DroppedElements& dropped, const Tensor& places, int64_t elements,
               std::initializer_list<const Tensor*> tensors)
      : count(elements / std::ssize(dropped.streams)),
        blocks((count + 3) / 4),
        threshold(dropped.threshold),
        streams(StreamsIn(places)),
        aligned(count % 4 == 0) {
    for (const Tensor* t : tensors)
      aligned &= reinterpret_cast<uintptr_t>(t->raw()) % (4 * SizeOf(t->dtype())) == 0;
  }
  struct Place {
    int64_t first;
    int elements;
    PhiloxWords words;
  };
  __device__ Place At(int64_t i) const {
    const Divided at = Divide(i, blocks);
    const int64_t left = count - 4 * at.rest;
    return {at.quotient * count + 4 * at.rest, left < 4 ? static_cast<int>(left) : 4,
            streams[at.quotient].Block(at.rest)};
  }
  template <class T>
  __device__ Wide<SumOf<T>, 4> Read(const T* from, const Place& place) const {
    return ReadSome<4>(from + place.first, place.elements, aligned);
  }
  template <class T>
  __device__ void Write(const Wide<SumOf<T>, 4>& values, T* to, const Place& place) const {
    WriteSome(values, to + place.first, place.elements, aligned);
  }
  // The values that are kept, times `scale`.
  template <class Sum>
  __device__ Wide<Sum, 4> Kept(const Wide<Sum, 4>& values, Sum scale, const Place& place) const {
    Wide<Sum, 4> kept;
    TORUS_UNROLL
    for (int k = 0; k < 4; ++k)
      kept.at[k] = place.words.word[k] >= threshold ? values.at[k] * scale : Sum(0);
    return kept;
  }
};

template <class X, class Y>
struct DropThenAdd {
  FourOfSample fours;
  SumOf<X> scale;
  const X* x;
  const Y* residual;
  Y* y;
  __device__ void operator()(int64_t i) const {
    const auto place = fours.At(i);
    const auto kept = fours.Kept(fours.Read(x, place), scale, place);
    fours.Write(SumOfRounded<X>(kept, fours.Read(residual, place)), y, place);
  }
};

template <class X, class Y>
struct DropGradient {
  FourOfSample fours;
  SumOf<X> scale;
  const Y* dy;
  X* dx;
  __device__ void operator()(int64_t i) const {
    const auto place = fours.At(i);
    const auto rounded = WidenPack(RoundPack<X>(fours.Read(dy, place)));
    fours.Write(fours.Kept(rounded, scale, place), dx, place);
  }
};

// Calls f<X, Y>() with the types of a dropped tensor and of the sum.
template <class F>
void VisitSum(DType x, DType y, const F& f) {
  TORUS_CHECK(x == y || (IsLow(x) && y == DType::kF32), "{} is added to {}", Name(x), Name(y));
  if (x == DType::kF32) return f.template operator()<float, float>();
  const auto low = [&]<class X>(X) {
    y == DType::kF32 ? f.template operator()<X, float>() : f.template operator()<X, X>();
  };
  TORUS_CHECK(IsLow(x), "{} is dropped and added in two passes", Name(x));
  x == DType::kBF16 ? low(BFloat16()) : low(Float16());
}

}  // namespace

void DropoutAdd(const Tensor& x, const Tensor& residual, const ops::DroppedElements& dropped,
                Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  if (y.numel() == 0) return;
  const Tensor there = HandOverStreams("dropout", dropped.streams, y.device(), stream);
  const FourOfSample fours(dropped, there, y.numel(), {&x, &residual, &y});
  VisitSum(x.dtype(), y.dtype(), [&]<class X, class Y>() {
    ForEach("dropout", std::ssize(dropped.streams) * fours.blocks, stream,
            DropThenAdd<X, Y>{fours, static_cast<SumOf<X>>(dropped.scale), Elements<X>(x),
                              Elements<Y>(residual), MutableElements<Y>(y)});
  });
}

void DropoutGradient(const Tensor& dy, const ops::DroppedElements& dropped, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  if (dx.numel() == 0) return;
  const Tensor there = HandOverStreams("dropout", dropped.streams, dx.device(), stream);
  const FourOfSample fours(dropped, there, dx.numel(), {&dy, &dx});
  VisitSum(dx.dtype(), dy.dtype(), [&]<class X, class Y>() {
    ForEach("dropout", std::ssize(dropped.streams) * fours.blocks, stream,
            DropGradient<X, Y>{fours, static_cast<SumOf<X>>(dropped.scale), Elements<Y>(dy),
                               MutableElements<X>(dx)});
  });
}

void DropoutMask(std::span<const RandomStream> streams, uint64_t threshold, Tensor& keep) {
  const StreamHandle stream = CurrentStream(keep.device());
  if (keep.numel() == 0) return;
  const Tensor there = HandOverStreams("dropout", streams, keep.device(), stream);
  const int64_t samples = std::ssize(streams), count = keep.numel() / samples;
  const int64_t blocks = (count + 3) / 4;
  ForEach("dropout", samples * blocks, stream,
          MaskBlock{count, blocks, threshold, StreamsIn(there), MutableElements<uint8_t>(keep)});
}

void DropoutApply(const Tensor& x, const Tensor& keep, double scale, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  VisitFloats("dropout", x.dtype(), [&]<class T>(ComputeType<T>) {
    RunMap("dropout", x.numel(), stream,
           BinaryMap<Dropped<T>, T, T, uint8_t>{{static_cast<SumOf<T>>(scale)},
                                                MutableElements<T>(y),
                                                {Elements<T>(x)},
                                                {Elements<uint8_t>(keep)}});
  });
}

}  // namespace torus::cuda
