// Lloyd's algorithm in one dimension, on a histogram, for kmeans.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace torus::parallel {

// A histogram bin. All its values are taken to be its middle.
struct WeightedPoint {
  double value = 0;
  double weight = 0;  // number of values
  double width = 0;   // of the bin
};

// Returns `count` numbers, ascending, from `passes` passes that reduce the sum of the weighted
// squared distances of the points to the nearest number. There is at least one point; points are in
// ascending order.
std::vector<double> Lloyd(std::span<const WeightedPoint> points, size_t count, int passes);

}  // namespace torus::parallel
