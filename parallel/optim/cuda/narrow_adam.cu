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

// The word that DrawBits (narrow_state.h) gives for element i.
__device__ inline uint32_t BitsOf(int64_t i, int64_t set, const NarrowConstants& c) {
  const int64_t place = i % kNormBlock + set * kNormBlock;
  const auto block =
      torus::cuda::PhiloxBlock(static_cast<uint64_t>(place / 4), c.high, c.key0, c.key1);
  return block.word[place % 4];
}

// The 16 random bits by which each moment of an element is rounded: the mean and the variance share
// a word of set 0, and the largest variance has one of set 1, as on a CPU.
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

  // How many moments there are.
  __device__ int Used() const { return moments[2] != nullptr ? 3 : 2; }

  // Updates element i, and its moments in f32.
  __device__ void Update(int64_t i, const NarrowConstants& c, float (&moment)[kMoments]) const {
    const AdamFormula<float> adam{c.adam};
    WriteBoth(i, adam.Step(parameter[i], gradient[i], Used() == 3, moment), parameter, low);
  }
};

struct StepBFloats {
  template <int kThreads, class Entry>
  __device__ void Run(const Entry& in_memory, int64_t first, int64_t last, int64_t) const {
    const Entry entry = in_memory;  // in registers: writes might alias it
    const NarrowConstants c = *entry.constants;
    const int used = entry.Used();
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

// Block by block: each thread reads the moments of kEach elements and updates them in f32; all
// threads together find the scales, and each writes the places of its own. `numbers`: with signs,
// then without.
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
    const int used = entry.Used();
    for (int64_t block = first; block < last; block += kStateBlock) {
      float moment[kEach][kMoments] = {};
      Chances chances[kEach] = {};
      for (int e = 0; e < kEach; ++e) {
        const int64_t i = block + threadIdx.x + e * kThreads;
        if (i >= last) continue;
        TORUS_UNROLL
        for (int k = 0; k < kMoments; ++k)
          if (k < used)
            moment[e][k] = Product(NumbersOf(shared, k)[entry.moments[k][i]],
                                   entry.scales[k][i / kStateBlock]);
        entry.Update(i, c, moment[e]);
        chances[e] = ChancesOf(i, used == 3, c);
      }
      TORUS_UNROLL
      for (int k = 0; k < kMoments; ++k)
        if (k < used)
          Write<kThreads, kEach>(entry, NumbersOf(shared, k), block, last, k, moment, chances);
    }
    __syncthreads();  // the next piece writes `shared`
  }

 private:
  __device__ static const float* NumbersOf(const float* both, int moment) {
    return moment == 0 ? both : both + 256;
  }

  // All threads have read the old scale before any is behind CombineBlock.
  template <int kThreads, int kEach, class Entry>
  __device__ static void Write(const Entry& entry, const float* numbers, int64_t block,
                               int64_t last, int k, const float (&moment)[kEach][kMoments],
                               const Chances (&chances)[kEach]) {
    uint32_t order = 0;
    for (int e = 0; e < kEach; ++e) {
      const uint32_t own = MagnitudeOrder(moment[e][k]);
      if (block + threadIdx.x + e * kThreads < last && own > order) order = own;
    }
    const float scale = OfMagnitudeOrder(CombineBlock<kThreads>(order, torus::cuda::Larger()));
    for (int e = 0; e < kEach; ++e) {
      const int64_t i = block + threadIdx.x + e * kThreads;
      if (i < last) entry.moments[k][i] = PlaceOf(numbers, moment[e][k], scale, chances[e].of[k]);
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

// Steps the items whose moments are T and whose copy is Low; those without one go with bf16.
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
