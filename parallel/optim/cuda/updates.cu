#include "parallel/optim/cuda/multi_tensor.h"
#include "parallel/optim/cuda/narrow_adam.h"
#include "parallel/optim/kernels.h"
//
#include "parallel/optim/cuda/step_entries.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/pack_floats.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::CombineBlock;
using torus::cuda::Elements;
using torus::cuda::MutableElements;
using torus::cuda::MutableElementsOrNull;

// The values of a parameter's step, rounded to T once.
template <class T>
struct SgdConstants {
  explicit SgdConstants(const SgdScalars& s)
      : scale(static_cast<T>(s.gradient_scale)),
        decay(static_cast<T>(s.weight_decay)),
        momentum(static_cast<T>(s.momentum)),
        undampened(static_cast<T>(1 - s.dampening)),
        size(static_cast<T>(-s.learning_rate)),
        decays(s.weight_decay != 0),
        nesterov(s.nesterov),
        first(s.first) {}
  T scale, decay, momentum, undampened, size;
  bool decays, nesterov, first;
};

// A parameter's step: sgd_kernel.h.
template <class T, class Low>
struct SgdEntry {
  using Constants = SgdConstants<T>;
  T* parameter;
  Low* low;  // may be null
  const T* gradient;
  T* buffer;  // may be null
  int64_t count;
  const Constants* constants;

  __device__ void Update(int64_t i, const Constants& c) const {
    T step = Product(gradient[i], c.scale);
    if (c.decays) step = FusedMultiplyAdd(parameter[i], c.decay, step);
    if (buffer != nullptr) {
      const T b =
          c.first ? step : FusedMultiplyAdd(step, c.undampened, Product(buffer[i], c.momentum));
      buffer[i] = b;
      step = c.nesterov ? FusedMultiplyAdd(b, c.momentum, step) : b;
    }
    WriteBoth(i, FusedMultiplyAdd(step, c.size, parameter[i]), parameter, low);
  }
};

// A parameter's step: adam_kernel.h.
template <class T, class Low>
struct AdamEntry {
  using Constants = AdamConstants<T>;
  AdamTensors<T> at;
  Low* low;  // may be null
  int64_t count;
  const Constants* constants;

  __device__ void Update(int64_t i, const Constants& c) const {
    const bool keeps_largest = at.largest != nullptr;
    T moment[kMoments] = {at.mean[i], at.variance[i], keeps_largest ? at.largest[i] : T(0)};
    const T updated =
        AdamFormula<T>{c}.Step(at.parameter[i], at.gradient[i], keeps_largest, moment);
    at.mean[i] = moment[0];
    at.variance[i] = moment[1];
    if (keeps_largest) at.largest[i] = moment[2];
    WriteBoth(i, updated, at.parameter, low);
  }
};

struct StepElements {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& in_memory, int64_t first, int64_t last, int64_t) const {
    const Entry entry = in_memory;  // in registers: writes might alias it
    const typename Entry::Constants constants = *entry.constants;
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) entry.Update(i, constants);
  }
};

template <class Low, class T>
SgdEntry<T, Low> EntryOf(SgdItem& item, const SgdConstants<T>* constants) {
  return {.parameter = MutableElements<T>(item.parameter),
          .low = MutableElementsOrNull<Low>(item.low),
          .gradient = Elements<T>(item.gradient),
          .buffer = MutableElementsOrNull<T>(item.buffer),
          .count = item.gradient.numel(),
          .constants = constants};
}

template <class Low, class T>
AdamEntry<T, Low> EntryOf(AdamItem& item, const AdamConstants<T>* constants) {
  return {.at = {.parameter = MutableElements<T>(item.parameter),
                 .gradient = Elements<T>(item.gradient),
                 .mean = MutableElements<T>(item.mean.values),
                 .variance = MutableElements<T>(item.variance.values),
                 .largest = MutableElementsOrNull<T>(item.largest.values)},
          .low = MutableElementsOrNull<Low>(item.low),
          .count = item.gradient.numel(),
          .constants = constants};
}

// Steps the items of type T whose copy is Low; those without one go with bf16. No narrow state.
template <template <class, class> class Entry, class T, class Low, class Item, class Scalars>
void WideStepOf(std::string_view op, std::vector<Item>& items, const StepScalars<Scalars>& scalars,
                StreamHandle stream) {
  StepOf<Entry<T, Low>>(
      op, items, scalars,
      [](const Item& item) {
        return item.gradient.dtype() == kDTypeOf<T> && LowTypeOf(item) == kDTypeOf<Low> &&
               !item.narrow();
      },
      [](Item& item, const auto* constants) { return EntryOf<Low>(item, constants); },
      StepElements(), stream);
}

template <template <class, class> class Entry, class Item, class Scalars>
void StepOfAll(std::string_view op, std::vector<Item>& items, const StepScalars<Scalars>& scalars,
               StreamHandle stream) {
  WideStepOf<Entry, float, BFloat16>(op, items, scalars, stream);
  WideStepOf<Entry, float, Float16>(op, items, scalars, stream);
  WideStepOf<Entry, double, BFloat16>(op, items, scalars, stream);
}

// average += share x (weight - average).
template <class T>
struct AverageEntry {
  const T* weight;
  T* average;
  int64_t count;
  T share;

  __device__ void Update(int64_t i) const { average[i] += Product(share, weight[i] - average[i]); }
};

struct MoveElements {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t) const {
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) entry.Update(i);
  }
};

template <class T>
void MoveTowardsOf(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages,
                   StreamHandle stream) {
  std::vector<AverageEntry<T>> entries;
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i].dtype() == kDTypeOf<T>)
      entries.push_back({Elements<T>(weights[i]), MutableElements<T>(averages[i]),
                         weights[i].numel(), static_cast<T>(share)});
  if (!entries.empty())
    ForEachPiece("averages", entries, weights.front().device(), stream, MoveElements());
}

template <class T>
struct RoundedEntry {
  const float* from;
  T* to;
  int64_t count, aligned;  // whether both begin at a multiple of a pack
};

// By packs of 16 bytes.
struct RoundElements {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& in_memory, int64_t first, int64_t last, int64_t) const {
    constexpr int kPack = 4;
    const Entry entry = in_memory;
    for (int64_t i = first + kPack * int64_t{threadIdx.x}; i < last; i += kPack * kThreads) {
      const auto some = static_cast<int>(last - i);
      torus::cuda::WriteSome(torus::cuda::ReadSome<kPack>(entry.from + i, some, entry.aligned != 0),
                             entry.to + i, some, entry.aligned != 0);
    }
  }
};

template <class T>
void RoundAllTo(const std::vector<Tensor>& from, std::vector<Tensor>& to, StreamHandle stream) {
  std::vector<RoundedEntry<T>> entries;
  for (size_t i = 0; i < from.size(); ++i) {
    const float* const values = Elements<float>(from[i]);
    T* const rounded = MutableElements<T>(to[i]);
    const bool aligned = (reinterpret_cast<uintptr_t>(values) % 16) == 0 &&
                         (reinterpret_cast<uintptr_t>(rounded) % 8) == 0;
    entries.push_back({values, rounded, from[i].numel(), aligned});
  }
  ForEachPiece("low_copies", entries, from.front().device(), stream, RoundElements());
}

// A contiguous gradient, and the index of its first piece among all results.
template <class T>
struct GradientEntry {
  const T* values;
  int64_t count, at;
  __device__ int64_t PlaceOf(int64_t first) const { return at + first / kNormBlock; }
};

template <class T>
std::vector<GradientEntry<T>> EntriesOf(const std::vector<Tensor>& gradients) {
  std::vector<GradientEntry<T>> entries;
  int64_t at = 0;
  for (const Tensor& gradient : gradients) {
    if (gradient.dtype() == kDTypeOf<T>)
      entries.push_back({Elements<T>(gradient), gradient.numel(), at});
    at += NormBlocks(gradient.numel());
  }
  return entries;
}

struct SumSquares {
  double* sums;  // one a piece
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t) const {
    double sum = 0;
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) {
      const double v = static_cast<double>(entry.values[i]);
      sum += v * v;
    }
    sum = CombineBlock<kThreads>(sum, torus::cuda::Plus());
    if (threadIdx.x == 0) sums[entry.PlaceOf(first)] = sum;
  }
};

// Writes whether a piece has an infinity or NaN.
struct FindInPieces {
  int32_t* found;
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t) const {
    int32_t any = 0;
    // x - x is NaN for infinities and NaN, 0 for all else.
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads)
      any |= entry.values[i] - entry.values[i] != 0;
    any = CombineBlock<kThreads>(any, torus::cuda::Plus());
    if (threadIdx.x == 0) found[entry.PlaceOf(first)] = any;
  }
};

template <class Body>
void OverGradients(std::string_view op, const std::vector<Tensor>& gradients, Device device,
                   StreamHandle stream, const Body& body) {
  for (const Tensor& gradient : gradients)
    VisitCompute(op, gradient.dtype(), [](auto) {});  // rejects other dtypes
  ForEachPiece(op, EntriesOf<float>(gradients), device, stream, body);
  ForEachPiece(op, EntriesOf<double>(gradients), device, stream, body);
}

}  // namespace

void SgdStep(std::vector<SgdItem>& items, const StepScalars<SgdScalars>& scalars) {
  const StreamHandle stream = CurrentStream(items.front().parameter.device());
  StepOfAll<SgdEntry>("sgd", items, scalars, stream);
}

void AdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars) {
  const StreamHandle stream = CurrentStream(items.front().parameter.device());
  StepOfAll<AdamEntry>("adam", items, scalars, stream);
  NarrowAdamStep(items, scalars, stream);
}

void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages) {
  const StreamHandle stream = CurrentStream(weights.front().device());
  MoveTowardsOf<float>(weights, share, averages, stream);
  MoveTowardsOf<double>(weights, share, averages, stream);
}

void RoundAll(const std::vector<Tensor>& from, std::vector<Tensor>& to) {
  const StreamHandle stream = CurrentStream(to.front().device());
  if (to.empty()) return;
  to.front().dtype() == DType::kBF16 ? RoundAllTo<BFloat16>(from, to, stream)
                                     : RoundAllTo<Float16>(from, to, stream);
}

void SquaredBlockNorms(const std::vector<Tensor>& gradients, Tensor& sums) {
  const StreamHandle stream = CurrentStream(sums.device());
  OverGradients("clip", gradients, sums.device(), stream,
                SumSquares{MutableElements<double>(sums)});
}

void FindNonFinite(const std::vector<Tensor>& gradients, Tensor& found) {
  const StreamHandle stream = CurrentStream(found.device());
  OverGradients("finite_check", gradients, found.device(), stream,
                FindInPieces{MutableElements<int32_t>(found)});
}

}  // namespace torus::parallel::cuda
