#include <algorithm>

#include "parallel/optim/cuda/narrow_adam.h"
#include "parallel/optim/narrow_rounding.h"
#include "runtime/dynamic_numbers.h"
#include "runtime/rng.h"
//
#include "parallel/optim/cuda/step_entries.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/philox.h"
#include "runtime/cuda/unroll.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::Elements;
using torus::cuda::MutableElements;
using torus::cuda::MutableElementsOrNull;

// The moments by number: mean, variance and largest variance.
constexpr int kMoments = 3;

struct NarrowConstants {
  explicit NarrowConstants(const AdamScalars& s)
      : NarrowConstants(s,
                        RandomStream({.step = static_cast<uint64_t>(s.step), .layer = s.stream})) {}
  AdamConstants<float> adam;
  uint32_t key0, key1;
  uint64_t high;

 private:
  NarrowConstants(const AdamScalars& s, const RandomStream& random)
      : adam(s), key0(random.key()[0]), key1(random.key()[1]), high(random.counter_high()) {}
};

// The bits of DrawBits for element i.
__device__ inline uint32_t BitsOf(int64_t i, int64_t set, const NarrowConstants& c) {
  const int64_t place = i % kNormBlock + set * kNormBlock;
  const auto block =
      torus::cuda::PhiloxBlock(static_cast<uint64_t>(place / 4), c.high, c.key0, c.key1);
  return block.word[place % 4];
}

// What an element's moments take of these: the mean the lower half, the variance the upper.
struct Chances {
  uint32_t of[kMoments];
};

__device__ inline Chances ChancesOf(int64_t i, bool largest, const NarrowConstants& c) {
  const uint32_t word = BitsOf(i, 0, c);
  return {{word & 0xffff, word >> 16, largest ? BitsOf(i, 1, c) & 0xffff : 0}};
}

template <class T, class Low>
struct NarrowEntry {
  using Constants = NarrowConstants;
  float* parameter;
  Low* low;  // may be null
  const float* gradient;
  T* moments[kMoments];     // the last may be null
  float* scales[kMoments];  // of 8 bits
  int64_t count;
  const Constants* constants;

  // Updates element i, and its moments in f32.
  __device__ void Update(int64_t i, const NarrowConstants& c, float (&moment)[kMoments]) const {
    const AdamFormula<float> adam{c.adam};
    const float p = adam.Decayed(parameter[i]), g = adam.Gradient(gradient[i], p);
    moment[0] = adam.Mean(moment[0], g);
    moment[1] = adam.Variance(moment[1], g);
    if (moments[2] != nullptr) moment[2] = adam.Larger(moment[2], moment[1]);
    const float divisor = moments[2] != nullptr ? moment[2] : moment[1];
    WriteBoth(i, adam.Parameter(p, moment[0], divisor), parameter, low);
  }
};

struct StepBFloats {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& in_memory, int64_t first, int64_t last, int64_t) const {
    const Entry entry = in_memory;  // in registers: writes might alias it
    const NarrowConstants c = *entry.constants;
    const int used = entry.moments[2] != nullptr ? 3 : 2;
    for (int64_t i = first + threadIdx.x; i < last; i += kThreads) {
      float moment[kMoments] = {};
      TORUS_UNROLL
      for (int k = 0; k < kMoments; ++k)
        if (k < used) moment[k] = ElementCast<float, BFloat16>()(entry.moments[k][i]);
      entry.Update(i, c, moment);
      const Chances chances = ChancesOf(i, used == 3, c);
      TORUS_UNROLL
      for (int k = 0; k < kMoments; ++k)
        if (k < used) entry.moments[k][i] = RoundedToBFloat(moment[k], chances.of[k]);
    }
  }
};

// Block by block: reads the moments of kEach elements a thread, finds the scales with all threads,
// and writes the moments' places. `numbers`: with signs, then without.
struct Step8Bits {
  float numbers[2 * 256];

  template <int kThreads, class Entry>
  __device__ void Run(const Entry& in_memory, int64_t first, int64_t last, int64_t) const {
    constexpr int kEach = kStateBlock / kThreads;
    static_assert(kStateBlock % kThreads == 0);
    __shared__ float shared[2 * 256];
    for (int k = threadIdx.x; k < 2 * 256; k += kThreads) shared[k] = numbers[k];
    __syncthreads();
    const Entry entry = in_memory;
    const NarrowConstants c = *entry.constants;
    const int used = entry.moments[2] != nullptr ? 3 : 2;
    for (int64_t block = first; block < last; block += kStateBlock) {
      float moment[kEach][kMoments] = {};
      for (int e = 0; e < kEach; ++e) {
        const int64_t i = block + threadIdx.x + e * kThreads;
        if (i >= last) continue;
        TORUS_UNROLL
        for (int k = 0; k < kMoments; ++k)
          if (k < used)
            moment[e][k] = Product(NumbersOf(shared, k)[entry.moments[k][i]],
                                   entry.scales[k][i / kStateBlock]);
        entry.Update(i, c, moment[e]);
      }
      TORUS_UNROLL
      for (int k = 0; k < kMoments; ++k)
        if (k < used)
          Write<kThreads, kEach>(entry, c, NumbersOf(shared, k), block, last, k, moment);
    }
    __syncthreads();  // the next piece writes `shared`
  }

 private:
  __device__ static const float* NumbersOf(const float* both, int moment) {
    return moment == 0 ? both : both + 256;
  }

  // All threads have read the old scale before any is behind CombineBlock.
  template <int kThreads, int kEach, class Entry>
  __device__ static void Write(const Entry& entry, const NarrowConstants& c, const float* numbers,
                               int64_t block, int64_t last, int k,
                               const float (&moment)[kEach][kMoments]) {
    uint32_t order = 0;
    for (int e = 0; e < kEach; ++e) {
      const uint32_t own = MagnitudeOrder(moment[e][k]);
      if (block + threadIdx.x + e * kThreads < last && own > order) order = own;
    }
    const float scale = OfMagnitudeOrder(CombineBlock<kThreads>(order, torus::cuda::Larger()));
    for (int e = 0; e < kEach; ++e) {
      const int64_t i = block + threadIdx.x + e * kThreads;
      if (i >= last) continue;
      const Chances chances = ChancesOf(i, k == 2, c);
      entry.moments[k][i] = PlaceOf(numbers, moment[e][k], scale, chances.of[k]);
    }
    if (threadIdx.x == 0) entry.scales[k][block / kStateBlock] = scale;
  }
};

Step8Bits WithNumbers() {
  Step8Bits step;
  std::ranges::copy(DynamicNumbers(true), step.numbers);
  std::ranges::copy(DynamicNumbers(false), step.numbers + 256);
  return step;
}

template <class T, class Low>
NarrowEntry<T, Low> EntryOf(AdamItem& item, const NarrowConstants* constants) {
  NarrowEntry<T, Low> entry{.parameter = MutableElements<float>(item.parameter),
                            .low = MutableElementsOrNull<Low>(item.low),
                            .gradient = Elements<float>(item.gradient),
                            .moments = {},
                            .scales = {},
                            .count = item.gradient.numel(),
                            .constants = constants};
  StateTensor* const states[kMoments] = {&item.mean, &item.variance, &item.largest};
  for (int k = 0; k < kMoments; ++k) {
    entry.moments[k] = MutableElementsOrNull<T>(states[k]->values);
    entry.scales[k] = MutableElementsOrNull<float>(states[k]->scales);
  }
  return entry;
}

// The items whose moments are T, with a copy of type Low, or, with bf16, without one.
template <class T, class Low, class Body>
void NarrowStepOf(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars,
                  const Body& body, StreamHandle stream) {
  StepOf<NarrowEntry<T, Low>>(
      "adam", items, scalars,
      [](const AdamItem& item) {
        return item.state_dtype() == kDTypeOf<T> && LowTypeOf(item) == kDTypeOf<Low>;
      },
      [](AdamItem& item, const NarrowConstants* constants) {
        return EntryOf<T, Low>(item, constants);
      },
      body, stream);
}

}  // namespace

void NarrowAdamStep(std::vector<AdamItem>& items, const StepScalars<AdamScalars>& scalars,
                    StreamHandle stream) {
  NarrowStepOf<BFloat16, BFloat16>(items, scalars, StepBFloats(), stream);
  NarrowStepOf<BFloat16, Float16>(items, scalars, StepBFloats(), stream);
  NarrowStepOf<uint8_t, BFloat16>(items, scalars, WithNumbers(), stream);
  NarrowStepOf<uint8_t, Float16>(items, scalars, WithNumbers(), stream);
}

}  // namespace torus::parallel::cuda
