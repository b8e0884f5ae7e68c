#include "parallel/schedule/cost_model.h"

#include <cmath>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {

CostModel EqualStages(int stages) {
  return {.forward = std::vector<double>(stages, 1), .backward = std::vector<double>(stages, 2)};
}

CostModel JoinBlocks(const CostModel& blocks, const std::vector<int>& cuts) {
  CostModel stages = blocks;
  for (const CostList& kind : kCostLists) {
    const std::vector<double>& list = blocks.*kind.list;
    if (list.empty()) continue;
    std::vector<double> joined(cuts.size() + 1, 0);
    size_t stage = 0;
    for (size_t block = 0; block < list.size(); ++block) {
      if (stage < cuts.size() && static_cast<int>(block) == cuts[stage]) ++stage;
      joined[stage] = list[block] + (kind.of_work ? joined[stage] : 0);
    }
    stages.*kind.list = std::move(joined);
  }
  return stages;
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
