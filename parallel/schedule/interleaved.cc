#include "parallel/schedule/interleaved.h"

#include <algorithm>

namespace torus::parallel {
namespace {

// The n-th forward or backward of a rank, counted as if the last group were full.
Action Nth(ActionKind kind, int n, int rank, const PipelineSize& size) {
  const int group = n / (size.ranks * size.chunks), within = n % (size.ranks * size.chunks);
  const int step = within / size.ranks;
  const int chunk = IsForward(kind) ? step : size.chunks - 1 - step;
  return {kind, chunk * size.ranks + rank, group * size.ranks + within % size.ranks};
}

Schedule Generate(const char* name, const PipelineSize& size, bool split) {
  CheckSize(name, size, true);
  Schedule schedule{name, size.ranks, size.stages(), size.micro_batches, {}};
  const int groups = (size.micro_batches + size.ranks - 1) / size.ranks;
  const int count = groups * size.ranks * size.chunks;
  for (int rank = 0; rank < size.ranks; ++rank) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    const auto add = [&](ActionKind kind, int n) {
      const Action action = Nth(kind, n, rank, size);
      if (action.micro_batch < size.micro_batches) actions.push_back(action);
    };
    // One chunk is 1F1B. With several, each micro-batch of the first group passes every rank twice
    // as often before its first backward.
    const int after = size.ranks - 1 - rank;
    const int ahead =
        std::min(count, size.chunks == 1 ? after : 2 * after + (size.chunks - 1) * size.ranks);
    for (int n = 0; n < ahead; ++n) add(ActionKind::kForward, n);
    const int behind = split ? rank : 0;
    for (int n = 0; n < count + behind; ++n) {
      if (n + ahead < count) add(ActionKind::kForward, n + ahead);
      if (n < count) add(split ? ActionKind::kBackwardInput : ActionKind::kBackward, n);
      if (split && n >= behind) add(ActionKind::kBackwardWeight, n - behind);
    }
  }
  return schedule;
}

}  // namespace

Schedule Interleaved(const PipelineSize& size) { return Generate("interleaved", size, false); }

Schedule InterleavedZeroBubble(const PipelineSize& size) {
  return Generate("zb-interleaved", size, true);
}

}  // namespace torus::parallel
