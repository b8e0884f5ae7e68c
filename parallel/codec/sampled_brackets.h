// Where the values at some ranks probably lie, guessed from a sample: the first step of
// SampledStatistics.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace torus::parallel {

// Thresholds ascend; region i has the values from threshold i up to, and without, threshold i + 1,
// the last one ends nowhere. Regions of even number are to be gathered; those of odd number lie
// between, and where `tied` says so all values of one are equal and stand at wanted ranks.
struct Brackets {
  static constexpr int kMostThresholds = 20;

  std::vector<float> thresholds;  // a multiple of four of them
  std::vector<bool> tied;         // for each threshold

  int size() const { return static_cast<int>(thresholds.size()); }
  float EndOf(int region) const {
    return region + 1 < size() ? thresholds[region + 1] : std::numeric_limits<float>::infinity();
  }
};

// Of the values at `ranks`, ascending, among `values`. No thresholds where the ranks are too far
// apart for so few, or the sample has a value that is infinite or NaN.
Brackets GuessBrackets(std::span<const float> values, std::span<const int64_t> ranks);

}  // namespace torus::parallel
