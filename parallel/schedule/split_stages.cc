#include "parallel/schedule/split_stages.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {

Schedule SplitStages(const Schedule& schedule, const std::vector<int>& parts) {
  Require(static_cast<int>(parts.size()) == schedule.num_stages &&
              std::ranges::all_of(parts, [](int count) { return count > 0; }),
          "schedule", "{}: there must be a count above 0 for each of {} stages, got {} of them",
          schedule.name, schedule.num_stages, parts.size());
  std::vector<int> first(parts.size());
  std::exclusive_scan(parts.begin(), parts.end(), first.begin(), 0);
  Schedule split = schedule;
  split.num_stages = std::accumulate(parts.begin(), parts.end(), 0);
  for (std::vector<Action>& actions : split.ranks)
    for (const Action& action : std::exchange(actions, {})) {
      if (!IsCompute(action.kind)) continue;
      const int count = parts[action.stage];
      for (int i = 0; i < count; ++i) {
        const int part = IsForward(action.kind) ? i : count - 1 - i;
        actions.push_back({action.kind, first[action.stage] + part, action.micro_batch});
      }
    }
  return split;
}

Schedule GatherAroundCompute(Schedule schedule) {
  for (std::vector<Action>& actions : schedule.ranks)
    for (const Action& action : std::exchange(actions, {})) {
      const bool compute = IsCompute(action.kind);
      if (compute) actions.push_back({ActionKind::kGather, action.stage, action.micro_batch});
      actions.push_back(action);
      if (compute) actions.push_back({ActionKind::kFree, action.stage, action.micro_batch});
    }
  return schedule;
}

}  // namespace torus::parallel
