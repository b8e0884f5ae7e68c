#include "parallel/schedule/lowering.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "parallel/schedule/printer.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The number of backward actions, whole and half, of each stage on this rank.
std::vector<int> CountBackwards(const std::vector<Action>& actions, int num_stages) {
  std::vector<int> counts(num_stages, 0);
  for (const Action& action : actions) counts[action.stage] += IsBackward(action.kind);
  return counts;
}

class Lowering {
 public:
  explicit Lowering(const Schedule& compute) : compute_(compute), owners_(StageOwners(compute)) {}

  Schedule Run() {
    Schedule lowered = compute_;
    for (int rank = 0; rank < compute_.num_ranks; ++rank) lowered.ranks[rank] = WithSends(rank);
    for (int rank = 0; rank < compute_.num_ranks; ++rank)
      lowered.ranks[rank] = WithReceives(lowered.ranks[rank], rank);
    return lowered;
  }

 private:
  using Link = std::pair<int, int>;  // from, to

  // The rank that runs `stage`; -1 when that is `rank` itself or the model has no such stage.
  int OtherOwner(int stage, int rank) const {
    if (stage < 0 || stage >= compute_.num_stages) return -1;
    return owners_[stage] == rank ? -1 : owners_[stage];
  }

  std::vector<Action> WithSends(int rank) {
    std::vector<Action> out;
    std::vector<int> left = CountBackwards(compute_.ranks[rank], compute_.num_stages);
    for (const Action& action : compute_.ranks[rank]) {
      Require(IsCompute(action.kind), "lowering", "takes compute actions alone, got {} on rank {}",
              action, rank);
      out.push_back(action);
      AddSend(action, rank, out);
      if (IsBackward(action.kind) && --left[action.stage] == 0)
        out.push_back({ActionKind::kReduce, action.stage});
    }
    for (int stage = 0; stage < compute_.num_stages; ++stage)
      if (owners_[stage] == rank) out.push_back({ActionKind::kStep, stage});
    return out;
  }

  void AddSend(const Action& action, int rank, std::vector<Action>& out) {
    const bool forward = IsForward(action.kind);
    const int to = action.stage + (forward ? 1 : -1), peer = OtherOwner(to, rank);
    if (peer < 0 || action.kind == ActionKind::kBackwardWeight) return;
    out.push_back({forward ? ActionKind::kSendActivation : ActionKind::kSendGradient, action.stage,
                   action.micro_batch, peer});
    sent_[{rank, peer}].push_back(
        {forward ? ActionKind::kRecvActivation : ActionKind::kRecvGradient, to, action.micro_batch,
         rank});
  }

  std::vector<Action> WithReceives(const std::vector<Action>& actions, int rank) {
    std::vector<Action> out;
    for (const Action& action : actions) {
      if (IsCompute(action.kind)) AddReceives(action, rank, out);
      out.push_back(action);
    }
    return out;
  }

  void AddReceives(const Action& action, int rank, std::vector<Action>& out) {
    const bool forward = IsForward(action.kind);
    const int peer = OtherOwner(action.stage + (forward ? -1 : 1), rank);
    if (peer < 0 || action.kind == ActionKind::kBackwardWeight) return;
    const Action needed{forward ? ActionKind::kRecvActivation : ActionKind::kRecvGradient,
                        action.stage, action.micro_batch, peer};
    if (received_.contains({needed.kind, needed.stage, needed.micro_batch})) return;
    std::deque<Action>& queue = sent_[{peer, rank}];
    const auto at = std::find(queue.begin(), queue.end(), needed);
    if (at == queue.end()) return out.push_back(needed);  // never sent: the verifier reports that
    for (auto it = queue.begin(); it != at + 1; ++it)
      received_.insert({it->kind, it->stage, it->micro_batch});
    out.insert(out.end(), queue.begin(), at + 1);
    queue.erase(queue.begin(), at + 1);
  }

  const Schedule& compute_;
  const std::vector<int> owners_;
  std::map<Link, std::deque<Action>> sent_;  // not yet received; each is stored as its receive
  std::set<std::tuple<ActionKind, int, int>> received_;  // of all ranks: a stage has only one
};

}  // namespace

Schedule Lower(const Schedule& compute) { return Lowering(compute).Run(); }

}  // namespace torus::parallel
