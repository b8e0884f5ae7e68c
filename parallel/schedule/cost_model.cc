#include "parallel/schedule/cost_model.h"

#include <cmath>

#include "runtime/error.h"

namespace torus::parallel {

CostModel EqualStages(int stages) {
  return {.forward = std::vector<double>(stages, 1), .backward = std::vector<double>(stages, 2)};
}

void CheckCosts(const CostModel& costs, int stages) {
  for (const CostList& kind : kCostLists) {
    const std::vector<double>& list = costs.*kind.list;
    Require(list.empty() || static_cast<int>(list.size()) == stages, "simulator",
            "needs a cost \"{}\" for each of {} stages, got {}", kind.name, stages, list.size());
    for (const double cost : list)
      Require(std::isfinite(cost) && cost >= 0, "simulator",
              "a cost \"{}\" must be finite and not negative, got {}", kind.name, cost);
  }
}

}  // namespace torus::parallel
