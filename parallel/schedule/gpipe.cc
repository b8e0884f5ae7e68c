#include "parallel/schedule/gpipe.h"

#include "runtime/error.h"

namespace torus::parallel {

Schedule GPipe(int stages, int micro_batches) {
  Require(stages >= 1 && micro_batches >= 1, "gpipe",
          "needs at least one stage and one micro-batch, got {} and {}", stages, micro_batches);
  Schedule schedule{"gpipe", stages, stages, micro_batches, {}};
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    for (int m = 0; m < micro_batches; ++m) actions.push_back({ActionKind::kForward, stage, m});
    for (int m = 0; m < micro_batches; ++m) actions.push_back({ActionKind::kBackward, stage, m});
  }
  return schedule;
}

}  // namespace torus::parallel
