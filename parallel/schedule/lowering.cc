#include "parallel/schedule/lowering.h"

#include "parallel/schedule/printer.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The rank that runs `stage`; -1 when that is `rank` itself or the model has no such stage.
int OtherOwner(const std::vector<int>& owners, int stage, int rank) {
  if (stage < 0 || stage >= static_cast<int>(owners.size())) return -1;
  return owners[stage] == rank ? -1 : owners[stage];
}

// Appends the receive that `action` needs, `action`, and the send of its results.
void AppendWithTransfers(const Action& action, int rank, const std::vector<int>& owners,
                         std::vector<Action>& out) {
  const bool forward = IsForward(action.kind);
  const int before = OtherOwner(owners, action.stage + (forward ? -1 : 1), rank);
  const int after = OtherOwner(owners, action.stage + (forward ? 1 : -1), rank);
  const bool moves = action.kind != ActionKind::kBackwardWeight;
  if (moves && before >= 0) {
    out.push_back({forward ? ActionKind::kRecvActivation : ActionKind::kRecvGradient, action.stage,
                   action.micro_batch, before});
  }
  out.push_back(action);
  if (moves && after >= 0) {
    out.push_back({forward ? ActionKind::kSendActivation : ActionKind::kSendGradient, action.stage,
                   action.micro_batch, after});
  }
}

// How many backward actions, whole ones and halves, each stage has on this rank.
std::vector<int> CountBackwards(const std::vector<Action>& actions, int num_stages) {
  std::vector<int> counts(num_stages, 0);
  for (const Action& action : actions) counts[action.stage] += IsBackward(action.kind);
  return counts;
}

std::vector<Action> LowerRank(const std::vector<Action>& actions, int rank,
                              const std::vector<int>& owners) {
  std::vector<Action> out;
  std::vector<int> left = CountBackwards(actions, static_cast<int>(owners.size()));
  for (const Action& action : actions) {
    Require(IsCompute(action.kind), "lowering", "takes compute actions alone, got {} on rank {}",
            ToString(action), rank);
    AppendWithTransfers(action, rank, owners, out);
    if (IsBackward(action.kind) && --left[action.stage] == 0) {
      out.push_back({ActionKind::kReduce, action.stage});
    }
  }
  for (int stage = 0; stage < static_cast<int>(owners.size()); ++stage) {
    if (owners[stage] == rank) out.push_back({ActionKind::kStep, stage});
  }
  return out;
}

}  // namespace

Schedule Lower(const Schedule& compute) {
  const std::vector<int> owners = StageOwners(compute);
  Schedule lowered = compute;
  for (int rank = 0; rank < compute.num_ranks; ++rank) {
    lowered.ranks[rank] = LowerRank(compute.ranks[rank], rank, owners);
  }
  return lowered;
}

}  // namespace torus::parallel
