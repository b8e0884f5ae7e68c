// Optimizer state that takes less memory than f32: a StateTensor in bf16, or in 8 bits.
//
// In 8 bits each block of kStateBlock values has a scale, the value of greatest magnitude, and each
// value is the place of value / scale among 256 numbers, with signs or without. A block's scale is
// exact. Any other value v of scale s moves by less than |s| times the gap between the two numbers
// around v / s, plus two roundings of f32: with signs at most 0.0141 |s|, without 0.0071 |s|; in
// the decade of s 10^(e - 6) the gap is 0.9 2^-e of the decade with signs, half of that without.
//
// Chance is Philox's (runtime/rng.h): of the parameter's name, its step and the value's place
// within kNormBlock. Slices of sharded parameters begin at multiples of that, so blocks and chance,
// and with them all bits, do not depend on how replicas share a parameter.
#pragma once

#include <cstdint>

#include "parallel/optim/norm_block.h"
#include "parallel/optim/state_type.h"
#include "runtime/rng.h"
#include "runtime/tensor.h"

namespace torus::parallel {

inline constexpr int64_t kStateBlock = 256;
static_assert(kNormBlock % kStateBlock == 0);

// How many blocks hold so many elements; the last may be shorter.
inline constexpr int64_t StateBlocks(int64_t elements) {
  return (elements + kStateBlock - 1) / kStateBlock;
}

// Bytes of the state of so many f32 values.
inline constexpr int64_t BytesOfState(StateType type, int64_t elements) {
  if (type == StateType::kF32) return 4 * elements;
  return type == StateType::kBF16 ? 2 * elements : elements + 4 * StateBlocks(elements);
}

// Contiguous. Values of the parameter's type, in bf16, or, as u8, in 8 bits; then with f32 scales
// of the blocks. Undefined if there is no such state.
struct StateTensor {
  Tensor values, scales;
  // Whether there is such a state.
  bool defined() const { return values.defined(); }
};

// State of a parameter like this one, all 0, on its device.
StateTensor ZeroState(const Tensor& like, StateType type);

// A copy of `state` (f32 or bf16; f32 or f64 for kF32) in another type, rounded to nearest, on a
// device. What Unpacked returns gets the same bits again if it is of normal numbers.
StateTensor Packed(const Tensor& state, StateType type, bool with_sign, Device device);

// 8 bits as the f32 that they stand for, in new memory; other values as they are.
Tensor Unpacked(const StateTensor& state, bool with_sign);

// A word of 32 random bits for each of `count` values of a parameter, from place `first` on, which
// is a multiple of 4; all lie within one kNormBlock. Two states share a word, each with its half of
// it. Further states draw another `set`.
void DrawBits(const RandomStream& stream, int64_t first, int64_t count, int64_t set,
              uint32_t* words);

// Which half of a word a state takes.
enum class Half : uint8_t { kLower, kUpper };

// Read and write `count` values of narrow state on the CPU, from `begin` on, which is the beginning
// of a block. `words` are those of DrawBits.
void ReadState(const StateTensor& state, bool with_sign, int64_t begin, int64_t count, float* to);
void WriteState(const float* from, const uint32_t* words, Half half, bool with_sign, int64_t begin,
                int64_t count, StateTensor& state);

}  // namespace torus::parallel
