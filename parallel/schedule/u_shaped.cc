#include "parallel/schedule/u_shaped.h"

namespace torus::parallel {

Schedule UShaped(const PipelineSize& size) {
  CheckSize("u-shaped", size);
  const int last = size.ranks;
  Schedule schedule{"u-shaped", size.ranks, last + 1, size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    const auto add_all = [&](ActionKind kind, int stage) {
      for (int m = 0; m < size.micro_batches; ++m) actions.push_back({kind, stage, m});
    };
    add_all(ActionKind::kForward, rank);
    if (rank == 0) add_all(ActionKind::kForward, last);
    if (rank == 0) add_all(ActionKind::kBackward, last);
    add_all(ActionKind::kBackward, rank);
  }
  return schedule;
}

}  // namespace torus::parallel
