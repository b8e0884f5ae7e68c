#include "parallel/optim/narrow_state.h"

#include <algorithm>
#include <array>

#include "parallel/optim/narrow_rounding.h"
#include "runtime/dynamic_numbers.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::parallel {
namespace {

DType TypeOfValues(const Tensor& like, StateType type) {
  if (type == StateType::kF32) return like.dtype();
  return type == StateType::kBF16 ? DType::kBF16 : DType::kU8;
}

uint32_t Chance(uint32_t word, Half half) {
  return half == Half::kLower ? word & 0xffff : word >> 16;
}

// Writes the places of one block's values. Returns its scale.
float WriteBlock(const float* from, const uint32_t* words, Half half, const float* numbers,
                 int64_t count, uint8_t* places) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, MagnitudeOrder(from[i]));
  const float scale = OfMagnitudeOrder(largest);
  for (int64_t i = 0; i < count; ++i)
    places[i] = PlaceOf(numbers, from[i], scale, Chance(words[i], half));
  return scale;
}

// Calls f(begin, count) for each block, on several threads.
template <class F>
void ForEachBlock(int64_t elements, const F& f) {
  ParallelFor(StateBlocks(elements), 64, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; ++b)
      f(b * kStateBlock, std::min(kStateBlock, elements - b * kStateBlock));
  });
}

}  // namespace

StateTensor ZeroState(const Tensor& like, StateType type) {
  StateTensor state;
  state.values = Zeros(like.shape(), TypeOfValues(like, type), like.device());
  if (type == StateType::k8Bit)
    state.scales = Zeros({StateBlocks(like.numel())}, DType::kF32, like.device());
  return state;
}

StateTensor Packed(const Tensor& state, StateType type, bool with_sign, Device device) {
  if (type == StateType::kF32 && IsLow(state.dtype()))
    return {.values = state.To(DType::kF32).To(device), .scales = {}};
  if (TypeOfValues(state, type) == state.dtype())
    return {.values = state.device() == device ? state.Clone() : state.To(device), .scales = {}};
  const Tensor wide = state.To(Device{}).To(DType::kF32).Contiguous();
  StateTensor packed = ZeroState(wide, type);
  std::array<uint32_t, kStateBlock> nearest;
  nearest.fill(kToNearest);
  ForEachBlock(wide.numel(), [&](int64_t begin, int64_t count) {
    WriteState(wide.data<float>() + begin, nearest.data(), Half::kLower, with_sign, begin, count,
               packed);
  });
  packed.values = packed.values.To(device);
  if (packed.scales.defined()) packed.scales = packed.scales.To(device);
  return packed;
}

Tensor Unpacked(const StateTensor& state, bool with_sign) {
  if (state.values.dtype() != DType::kU8) return state.values;
  const StateTensor here{state.values.To(Device{}), state.scales.To(Device{})};
  Tensor wide = Empty(here.values.shape(), DType::kF32);
  float* const to = wide.mutable_data<float>();
  ForEachBlock(wide.numel(), [&](int64_t begin, int64_t count) {
    ReadState(here, with_sign, begin, count, to + begin);
  });
  return wide.To(state.values.device());
}

void DrawBits(const RandomStream& stream, int64_t first, int64_t count, int64_t set,
              uint32_t* words) {
  const int64_t place = first % kNormBlock + set * kNormBlock;
  stream.Blocks(place / 4, (count + 3) / 4, words);
}

void ReadState(const StateTensor& state, bool with_sign, int64_t begin, int64_t count, float* to) {
  if (state.values.dtype() == DType::kBF16) {
    const BFloat16* const from = state.values.data<BFloat16>() + begin;
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
    return;
  }
  const uint8_t* const places = state.values.data<uint8_t>() + begin;
  const float* const scales = state.scales.data<float>() + begin / kStateBlock;
  const auto numbers = DynamicNumbers(with_sign);
  for (int64_t i = 0; i < count; ++i) to[i] = numbers[places[i]] * scales[i / kStateBlock];
}

void WriteState(const float* from, const uint32_t* words, Half half, bool with_sign, int64_t begin,
                int64_t count, StateTensor& state) {
  if (state.values.dtype() == DType::kBF16) {
    BFloat16* const to = state.values.mutable_data<BFloat16>() + begin;
    for (int64_t i = 0; i < count; ++i) to[i] = RoundedToBFloat(from[i], Chance(words[i], half));
    return;
  }
  uint8_t* const places = state.values.mutable_data<uint8_t>() + begin;
  float* const scales = state.scales.mutable_data<float>() + begin / kStateBlock;
  const float* const numbers = DynamicNumbers(with_sign).data();
  for (int64_t i = 0; i < count; i += kStateBlock)
    scales[i / kStateBlock] = WriteBlock(from + i, words + i, half, numbers,
                                         std::min(kStateBlock, count - i), places + i);
}

}  // namespace torus::parallel
