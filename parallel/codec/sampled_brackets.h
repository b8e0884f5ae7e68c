// Brackets: where the values at some ranks probably lie, estimated from a sample. The first step of
// SampledStatistics.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace torus::parallel {

// Thresholds ascend. Region i holds the values from threshold i (included) to threshold i + 1
// (excluded); the last region has no upper end. Even-numbered regions are to be gathered;
// odd-numbered ones lie between them. If `tied` is set for an odd region, all its values are equal
// and at wanted ranks.
struct Brackets {
  static constexpr int kMostThresholds = 20;

  std::vector<float> thresholds;  // padded to 2, 6 or a multiple of four of them
  std::vector<bool> tied;         // for each threshold

  int size() const { return static_cast<int>(thresholds.size()); }
  float EndOf(int region) const {
    return region + 1 < size() ? thresholds[region + 1] : std::numeric_limits<float>::infinity();
  }
};

// The brackets of the values at `ranks`, ascending, among `values`. None if the ranks are too far
// apart for kMostThresholds, or the sample has a value that is infinite or NaN.
std::optional<Brackets> GuessBrackets(std::span<const float> values,
                                      std::span<const int64_t> ranks);

}  // namespace torus::parallel
