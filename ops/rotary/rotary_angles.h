// The angles of rotary position embeddings.
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/host_device.h"

namespace torus::ops {

// Pair i of a head of `width` elements turns by Frequency(i, width) from one position to the next:
// theta^(-2 i / width) (Su et al. 2021, arXiv:2104.09864, section 3.2.2), unless it is scaled for
// longer texts than a model was trained on.
struct RotaryFrequencies {
  double theta = 10000;
  double factor = 1;  // divides frequencies
  // If above 0, as Llama 3.1 (transformers' rope_type "llama3"): frequencies that turn fewer than
  // low_turns times within so many positions are divided by `factor`, those that turn more than
  // high_turns times stay, and between them the quotient changes linearly in the turns.
  double original_positions = 0;
  double low_turns = 1, high_turns = 4;

  // In radians from one position to the next.
  TORUS_HOST_DEVICE double Frequency(int64_t i, int64_t width) const {
    constexpr double kTwoPi = 6.283185307179586477;
    const double plain =
        std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(width));
    if (original_positions <= 0) return plain / factor;
    const double turns = original_positions * plain / kTwoPi;
    if (turns > high_turns) return plain;
    if (turns < low_turns) return plain / factor;
    const double kept = (turns - low_turns) / (high_turns - low_turns);
    return (1 - kept) * plain / factor + kept * plain;
  }

  // In f32 the frequency and the product are rounded, as in transformers: an angle of a thousand
  // turns is off by as much as there.
  template <class T>
  TORUS_HOST_DEVICE T Angle(int64_t position, int64_t i, int64_t width) const {
    return static_cast<T>(position) * static_cast<T>(Frequency(i, width));
  }
};

// The element `column` of a position's row of `width` numbers: the cosines of its pairs' angles,
// then their sines.
template <class T>
TORUS_HOST_DEVICE T RotaryTableAt(const RotaryFrequencies& frequencies, int64_t position,
                                  int64_t column, int64_t width) {
  const int64_t half = width / 2;
  const double angle = frequencies.Angle<T>(position, column % half, width);
  return static_cast<T>(column < half ? std::cos(angle) : std::sin(angle));
}

}  // namespace torus::ops
