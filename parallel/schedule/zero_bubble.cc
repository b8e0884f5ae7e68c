#include "parallel/schedule/zero_bubble.h"

#include <algorithm>

namespace torus::parallel {

Schedule ZeroBubbleH1(const PipelineSize& size) {
  CheckSize("zb-h1", size);
  Schedule schedule{"zb-h1", size.ranks, size.ranks, size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    const auto add = [&](ActionKind kind, int m) {
      if (m >= 0 && m < size.micro_batches) actions.push_back({kind, rank, m});
    };
    const int ahead = std::min(size.micro_batches, size.ranks - 1 - rank);
    for (int m = 0; m < ahead; ++m) add(ActionKind::kForward, m);
    for (int m = 0; m < size.micro_batches + rank; ++m) {
      add(ActionKind::kForward, m + ahead);
      add(ActionKind::kBackwardInput, m);
      add(ActionKind::kBackwardWeight, m - rank);
    }
  }
  return schedule;
}

}  // namespace torus::parallel
