#include "parallel/schedule/dual_pipe_v.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "parallel/schedule/v_shape.h"

namespace torus::parallel {
namespace {

constexpr ActionKind kF = ActionKind::kForward, kB = ActionKind::kBackward;

// The list of a rank, in which halves for the weights run in the order in which they were put off.
class DualPipeRank {
 public:
  DualPipeRank(const PipelineSize& size, int rank) : list_(size, rank) {}

  void Forward(int chunk) { list_.Add(kF, chunk); }
  void Backward(int chunk, bool split) {
    list_.Add(split ? ActionKind::kBackwardInput : kB, chunk);
    if (split) put_off_.push_back(chunk);
  }
  void Weights() {
    list_.Add(ActionKind::kBackwardWeight, put_off_.front());
    put_off_.pop_front();
  }
  std::vector<Action> Take() { return std::move(list_.actions); }

 private:
  VRank list_;
  std::deque<int> put_off_;  // chunks
};

void Begin(DualPipeRank& list, int rank, int after) {
  for (int i = 0; i < 2 * after; ++i) list.Forward(0);
  for (int i = 0; i <= rank; ++i) {
    list.Forward(0);
    list.Forward(1);
  }
  for (int i = 0; i < after; ++i) {
    list.Backward(1, true);
    list.Weights();
    list.Forward(1);
  }
}

// The last backwards; of those of both stages in turn, the second half are split.
void End(DualPipeRank& list, int rank, int after) {
  for (int i = 0; i < after; ++i) {
    list.Backward(1, false);
    list.Forward(1);
    list.Backward(0, false);
  }
  for (int i = 0; i < 2 * (rank + 1); ++i) list.Backward(i % 2 == 0 ? 1 : 0, i > rank);
  for (int i = 0; i < after; ++i) {
    list.Weights();
    list.Backward(0, true);
  }
  for (int i = 0; i <= rank; ++i) list.Weights();
}

std::vector<Action> ActionsOf(const PipelineSize& size, int rank) {
  DualPipeRank list(size, rank);
  const int after = size.ranks - 1 - rank;
  // Fewer micro-batches have the order of the least number that fills the pipeline.
  const int steady = std::max(size.micro_batches, 2 * size.ranks) - 2 * size.ranks + rank + 1;
  Begin(list, rank, after);
  for (int i = 0; i < steady; ++i) {
    list.Forward(0);
    list.Backward(1, false);
    list.Forward(1);
    list.Backward(0, false);
  }
  End(list, rank, after);
  return list.Take();
}

}  // namespace

Schedule DualPipeV(const PipelineSize& size) {
  CheckVShape("dualpipe-v", size);
  Schedule schedule{"dualpipe-v", size.ranks, size.stages(), size.micro_batches, {}};
  for (int rank = 0; rank < size.ranks; ++rank) schedule.ranks.push_back(ActionsOf(size, rank));
  return schedule;
}

}  // namespace torus::parallel
