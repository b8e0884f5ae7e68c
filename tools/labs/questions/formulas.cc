#include "tools/labs/questions/formulas.h"

#include <algorithm>
#include <cmath>

#include "runtime/error.h"

namespace torus::labs {

double SpeedUp(double one, double many) {
  Require(one > 0 && many > 0, "labs", "a speed-up needs two times above 0, got {} s and {} s", one,
          many);
  return one / many;
}

double RingBytes(int64_t ranks, double bytes) {
  Require(ranks >= 1, "labs", "a ring needs at least one rank, got {}", ranks);
  const auto n = static_cast<double>(ranks);
  return 2 * (n - 1) / n * bytes;
}

double RingBandwidth(int64_t ranks, double bytes, double seconds) {
  Require(seconds > 0, "labs", "a bandwidth needs a time above 0, got {} s", seconds);
  return RingBytes(ranks, bytes) / seconds;
}

double CommunicationBySubtraction(double many, double one, int64_t ranks) {
  Require(ranks >= 1, "labs", "needs at least one rank, got {}", ranks);
  return many - one / static_cast<double>(ranks);
}

double SharesMet(int64_t ranks, int64_t epochs) {
  Require(ranks >= 1 && epochs >= 0, "labs", "needs a rank and no negative epochs, got {} and {}",
          ranks, epochs);
  return 1 - std::pow(1 - 1 / static_cast<double>(ranks), static_cast<double>(epochs));
}

std::vector<StrongPoint> StrongPoints(const std::vector<int64_t>& batches,
                                      const std::vector<int64_t>& ranks) {
  std::vector<StrongPoint> points;
  for (const int64_t global : batches)
    for (const int64_t n : ranks)
      if (n > 1 && global % n == 0 && std::ranges::find(batches, global / n) != batches.end())
        points.push_back({global, n, global / n});
  return points;
}

double LargeBatchRate::At(int64_t step) const {
  const double peak = scale * base;
  if (step >= warmup_steps) return peak;
  return base + (peak - base) * static_cast<double>(step) / static_cast<double>(warmup_steps);
}

std::vector<double> DistanceFactors(int64_t steps, double rate, double momentum, double decay) {
  std::vector<double> factors{1};
  double velocity = 0;
  for (int64_t step = 0; step < steps; ++step) {
    velocity = momentum * velocity + decay * factors.back();
    factors.push_back(factors.back() - rate * velocity);
  }
  return factors;
}

}  // namespace torus::labs
