#include <algorithm>
#include <cmath>

#include "parallel/optim/cuda/multi_tensor.h"
#include "parallel/optim/cuda/updates.h"
//
#include "runtime/cuda/block.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::CombineBlock;
using torus::cuda::Elements;
using torus::cuda::MutableElements;
using torus::cuda::MutableElementsOrNull;

__device__ inline float FusedMultiplyAdd(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double FusedMultiplyAdd(double a, double b, double c) { return fma(a, b, c); }

__device__ inline float Root(float x) { return sqrtf(x); }
__device__ inline double Root(double x) { return sqrt(x); }

// Each rounded by itself, whatever the compiler would fuse.
__device__ inline float Product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double Product(double a, double b) { return __dmul_rn(a, b); }

// A parameter's step: sgd_kernel.h. The constants are rounded to T once.
template <class T>
struct SgdEntry {
  T* parameter;
  const T* gradient;
  T* buffer;  // may be null
  int64_t count;
  T scale, decay, momentum, undampened, size;
  bool decays, nesterov, first;

  __device__ void Update(int64_t i) const {
    T step = Product(gradient[i], scale);
    if (decays) step = FusedMultiplyAdd(parameter[i], decay, step);
    if (buffer != nullptr) {
      const T b = first ? step : FusedMultiplyAdd(step, undampened, Product(buffer[i], momentum));
      buffer[i] = b;
      step = nesterov ? FusedMultiplyAdd(b, momentum, step) : b;
    }
    parameter[i] = FusedMultiplyAdd(step, size, parameter[i]);
  }
};

// A parameter's step: adam_kernel.h.
template <class T>
struct AdamEntry {
  AdamTensors<T> at;
  int64_t count;
  AdamConstants<T> c;

  __device__ void Update(int64_t i) const {
    T p = at.parameter[i], g = Product(at.gradient[i], c.scale);
    if (c.decays && c.decoupled) p = Product(p, c.decay);
    if (c.decays && !c.decoupled) g = FusedMultiplyAdd(p, c.decay, g);
    const T m = Mean(at.mean[i], g);
    T v = FusedMultiplyAdd(Product(g, c.rest2), g, Product(at.variance[i], c.beta2));
    at.mean[i] = m;
    at.variance[i] = v;
    if (at.largest != nullptr) {
      v = at.largest[i] > v ? at.largest[i] : v;  // in this order NaN passes
      at.largest[i] = v;
    }
    const T denominator = FusedMultiplyAdd(Root(v), c.correction, c.eps);
    at.parameter[i] = p + Product(m, c.size) / denominator;
  }

 private:
  __device__ T Mean(T m, T g) const {
    const T difference = g - m;
    return c.rest1 < T(0.5) ? FusedMultiplyAdd(difference, c.rest1, m)
                            : FusedMultiplyAdd(-difference, c.beta1, g);
  }
};

struct UpdateElements {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t) const {
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) entry.Update(i);
  }
};

template <class T>
SgdEntry<T> EntryOf(SgdItem& item) {
  const SgdScalars& s = item.scalars;
  return {.parameter = MutableElements<T>(item.parameter),
          .gradient = Elements<T>(item.gradient),
          .buffer = MutableElementsOrNull<T>(item.buffer),
          .count = item.gradient.numel(),
          .scale = static_cast<T>(s.gradient_scale),
          .decay = static_cast<T>(s.weight_decay),
          .momentum = static_cast<T>(s.momentum),
          .undampened = static_cast<T>(1 - s.dampening),
          .size = static_cast<T>(-s.learning_rate),
          .decays = s.weight_decay != 0,
          .nesterov = s.nesterov,
          .first = s.first};
}

template <class T>
AdamEntry<T> EntryOf(AdamItem& item) {
  return {.at = {.parameter = MutableElements<T>(item.parameter),
                 .gradient = Elements<T>(item.gradient),
                 .mean = MutableElements<T>(item.mean),
                 .variance = MutableElements<T>(item.variance),
                 .largest = MutableElementsOrNull<T>(item.largest)},
          .count = item.gradient.numel(),
          .c = AdamConstants<T>(item.scalars)};
}

template <template <class> class Entry, class T, class Item>
void StepOf(std::string_view op, std::vector<Item>& items, StreamHandle stream) {
  std::vector<Entry<T>> entries;
  for (Item& item : items)
    if (item.gradient.dtype() == kDTypeOf<T>) entries.push_back(EntryOf<T>(item));
  ForEachPiece(op, entries, items.front().parameter.device(), stream, UpdateElements());
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

template <class T>
void MoveTowardsOf(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages,
                   StreamHandle stream) {
  std::vector<AverageEntry<T>> entries;
  for (size_t i = 0; i < weights.size(); ++i)
    if (weights[i].dtype() == kDTypeOf<T>)
      entries.push_back({Elements<T>(weights[i]), MutableElements<T>(averages[i]),
                         weights[i].numel(), static_cast<T>(share)});
  if (!entries.empty())
    ForEachPiece("averages", entries, weights.front().device(), stream, UpdateElements());
}

// A contiguous gradient to read.
template <class T>
struct GradientEntry {
  const T* values;
  int64_t count;
};

template <class T>
std::vector<GradientEntry<T>> EntriesOf(const std::vector<Tensor>& gradients) {
  std::vector<GradientEntry<T>> entries;
  for (const Tensor& gradient : gradients)
    if (gradient.dtype() == kDTypeOf<T>)
      entries.push_back({Elements<T>(gradient), gradient.numel()});
  return entries;
}

struct SumSquares {
  double* sums;  // one a piece
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t piece) const {
    double sum = 0;
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) {
      const double v = static_cast<double>(entry.values[i]);
      sum += v * v;
    }
    sum = CombineBlock<kThreads>(sum, torus::cuda::Plus());
    if (threadIdx.x == 0) sums[piece] = sum;
  }
};

// Writes whether a piece has an infinity or NaN.
struct FindNonFinite {
  int32_t* found;
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& entry, int64_t first, int64_t last, int64_t piece) const {
    int32_t any = 0;
    // x - x is NaN for infinities and NaN, 0 for all else.
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads)
      any |= entry.values[i] - entry.values[i] != 0;
    any = CombineBlock<kThreads>(any, torus::cuda::Plus());
    if (threadIdx.x == 0) found[piece] = any;
  }
};

// What `body`, made of the memory that it writes to, leaves for each piece of gradients in T.
template <class T, class Result, class MakeBody>
std::vector<Result> PieceResults(std::string_view op, const std::vector<Tensor>& gradients,
                                 StreamHandle stream, const MakeBody& make_body) {
  const std::vector<GradientEntry<T>> entries = EntriesOf<T>(gradients);
  if (entries.empty()) return {};
  const Device device = gradients.front().device();
  Tensor results({PieceEnds(entries).back()}, kDTypeOf<Result>, device);
  ForEachPiece(op, entries, device, stream, make_body(MutableElements<Result>(results)));
  return ToVector<Result>(results.To(Device{}));
}

template <class T>
void AddBlockNorms(const std::vector<Tensor>& gradients, StreamHandle stream,
                   std::vector<std::vector<double>>& sums) {
  const auto all =
      PieceResults<T, double>("clip", gradients, stream, [](double* to) { return SumSquares{to}; });
  auto next = all.begin();
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].dtype() != kDTypeOf<T>) continue;
    const auto end = next + NormBlocks(gradients[i].numel());
    sums[i].assign(next, end);
    next = end;
  }
}

template <class T>
bool AllFiniteOf(const std::vector<Tensor>& gradients, StreamHandle stream) {
  const auto found = PieceResults<T, int32_t>("finite_check", gradients, stream,
                                              [](int32_t* to) { return FindNonFinite{to}; });
  return std::ranges::all_of(found, [](int32_t any) { return any == 0; });
}

}  // namespace

void SgdStep(std::vector<SgdItem>& items, StreamHandle stream) {
  StepOf<SgdEntry, float>("sgd", items, stream);
  StepOf<SgdEntry, double>("sgd", items, stream);
}

void AdamStep(std::vector<AdamItem>& items, StreamHandle stream) {
  StepOf<AdamEntry, float>("adam", items, stream);
  StepOf<AdamEntry, double>("adam", items, stream);
}

void MoveTowards(const std::vector<Tensor>& weights, double share, std::vector<Tensor>& averages,
                 StreamHandle stream) {
  MoveTowardsOf<float>(weights, share, averages, stream);
  MoveTowardsOf<double>(weights, share, averages, stream);
}

std::vector<std::vector<double>> SquaredBlockNorms(const std::vector<Tensor>& gradients,
                                                   StreamHandle stream) {
  std::vector<std::vector<double>> sums(gradients.size());
  AddBlockNorms<float>(gradients, stream, sums);
  AddBlockNorms<double>(gradients, stream, sums);
  return sums;
}

bool AllFinite(const std::vector<Tensor>& gradients, StreamHandle stream) {
  return AllFiniteOf<float>(gradients, stream) && AllFiniteOf<double>(gradients, stream);
}

}  // namespace torus::parallel::cuda
