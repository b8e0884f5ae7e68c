#include "parallel/schedule/gpipe.h"

namespace torus::parallel {

Schedule GPipe(const PipelineSize& size) {
  CheckSize("gpipe", size);
  Schedule schedule{"gpipe", size.ranks, size.ranks, size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    for (int m = 0; m < size.micro_batches; ++m) actions.push_back({ActionKind::kForward, rank, m});
    for (int m = 0; m < size.micro_batches; ++m)
      actions.push_back({ActionKind::kBackward, rank, m});
  }
  return schedule;
}

}  // namespace torus::parallel
