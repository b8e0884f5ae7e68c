#include "parallel/schedule/one_forward_one_backward.h"

#include <algorithm>

namespace torus::parallel {

Schedule OneForwardOneBackward(const PipelineSize& size) {
  CheckSize("1f1b", size);
  Schedule schedule{"1f1b", size.ranks, size.ranks, size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    const int ahead = std::min(size.micro_batches, size.ranks - 1 - rank);
    for (int m = 0; m < ahead; ++m) actions.push_back({ActionKind::kForward, rank, m});
    for (int m = 0; m < size.micro_batches; ++m) {
      if (m + ahead < size.micro_batches)
        actions.push_back({ActionKind::kForward, rank, m + ahead});
      actions.push_back({ActionKind::kBackward, rank, m});
    }
  }
  return schedule;
}

}  // namespace torus::parallel
