#include "parallel/trainer/train_totals.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace torus::parallel {

double Drift(const std::vector<RankTime>& ranks) {
  std::map<int, double> distance, weights;  // by replica
  for (const RankTime& time : ranks) {
    distance[time.place.replica] += time.drift_distance;
    weights[time.place.replica] += time.drift_weights;
  }
  double most = 0;
  for (const auto& [replica, square] : distance)
    if (weights[replica] > 0) most = std::max(most, std::sqrt(square / weights[replica]));
  return most;
}

}  // namespace torus::parallel
