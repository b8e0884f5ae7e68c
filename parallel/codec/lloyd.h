// Lloyd's algorithm for one dimension, on a histogram: kmeans.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace torus::parallel {

// Values of a histogram's bin, all taken for its middle.
struct WeightedPoint {
  double value = 0;
  double weight = 0;  // how many
  double width = 0;   // of the bin
};

// `count` numbers, ascending, that minimise the sum of weighted squared distances of the points,
// given in ascending order, as far as `passes` passes do. At least one point.
std::vector<double> Lloyd(std::span<const WeightedPoint> points, size_t count, int passes);

}  // namespace torus::parallel
