#include "parallel/codec/lloyd.h"

#include <algorithm>
#include <cmath>

namespace torus::parallel {
namespace {

// Prefix sums over the points, so that a range of points costs two look-ups.
struct RunningSums {
  explicit RunningSums(std::span<const WeightedPoint> points) {
    for (const WeightedPoint& point : points) {
      weight.push_back(weight.back() + point.weight);
      moment.push_back(moment.back() + point.weight * point.value);
    }
  }
  std::vector<double> weight{0}, moment{0};
};

// The quantiles of Panter and Dite's density, the cube root of the values' density.
std::vector<double> Begin(std::span<const WeightedPoint> points, size_t count) {
  std::vector<double> upto{0};
  for (const WeightedPoint& p : points)
    upto.push_back(upto.back() + std::cbrt(p.weight * p.width * p.width));
  std::vector<double> numbers;
  size_t at = 0;
  for (size_t k = 0; k < count; ++k) {
    const double wanted = upto.back() * (static_cast<double>(k) + 0.5) / static_cast<double>(count);
    while (at + 1 < points.size() && upto[at + 1] < wanted) ++at;
    numbers.push_back(points[at].value);
  }
  return numbers;
}

// The first point that is nearer to `above` than to `below`.
size_t Boundary(std::span<const WeightedPoint> points, double below, double above) {
  const double middle = below + (above - below) / 2;
  const auto at = std::ranges::upper_bound(points, middle, {}, &WeightedPoint::value);
  return static_cast<size_t>(at - points.begin());
}

// Moves each number to the mean of its points; a number without points stays. Returns whether any
// moved.
bool Move(std::span<const WeightedPoint> points, const RunningSums& sums,
          std::vector<double>& numbers) {
  bool moved = false;
  const std::vector<double> before = numbers;
  for (size_t k = 0, first = 0; k < numbers.size(); ++k) {
    const bool last = k + 1 == numbers.size();
    const size_t end = last ? points.size() : Boundary(points, before[k], before[k + 1]);
    const double weight = sums.weight[end] - sums.weight[first];
    if (weight > 0) {
      const double mean = (sums.moment[end] - sums.moment[first]) / weight;
      moved = moved || mean != numbers[k];
      numbers[k] = mean;
    }
    first = end;
  }
  std::ranges::sort(numbers);
  return moved;
}

}  // namespace

std::vector<double> Lloyd(std::span<const WeightedPoint> points, size_t count, int passes) {
  const RunningSums sums(points);
  std::vector<double> numbers = Begin(points, count);
  while (passes-- > 0 && Move(points, sums, numbers)) continue;
  return numbers;
}

}  // namespace torus::parallel
