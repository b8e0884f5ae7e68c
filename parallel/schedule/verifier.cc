#include "parallel/schedule/verifier.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "parallel/schedule/printer.h"
#include "parallel/schedule/rule.h"
#include "parallel/schedule/stage_rules.h"

namespace torus::parallel {
namespace {

// Whether `action` uses a result of the stage before it (a forward) or behind it (a backward), and
// that stage is on the same rank.
bool NeedsLocalStage(const Action& action, int neighbour, const std::vector<int>& owners) {
  return IsCompute(action.kind) && action.kind != ActionKind::kBackwardWeight && neighbour >= 0 &&
         neighbour < static_cast<int>(owners.size()) && owners[neighbour] == owners[action.stage];
}

// Rules between the stages of one rank. Nothing is received between them, so the order of the list
// is all that keeps them.
void CheckRank(const Schedule& schedule, const std::vector<int>& owners, int rank) {
  const std::vector<Action>& actions = schedule.ranks[rank];
  Rule(!actions.empty(), schedule, "rank {} runs no stage", rank);
  std::set<std::tuple<bool, int, int>> done;  // forward?, stage, micro-batch
  const Action* step = nullptr;
  for (const Action& action : actions) {
    const bool forward = IsForward(action.kind);
    const int neighbour = action.stage + (forward ? -1 : 1);
    Rule(!NeedsLocalStage(action, neighbour, owners) ||
             done.contains({forward, neighbour, action.micro_batch}),
         schedule, "rank {} runs {} before the {} of stage {} on that micro-batch", rank,
         ToString(action), forward ? "forward" : "backward", neighbour);
    if (IsCompute(action.kind)) done.insert({forward, action.stage, action.micro_batch});
    if (action.kind == ActionKind::kStep) step = &action;
    Rule(action.kind != ActionKind::kReduce || step == nullptr, schedule,
         "rank {} runs {} after {}", rank, ToString(action),
         step == nullptr ? "" : ToString(*step));
  }
}

// The receive that takes what `send`, run on `rank`, sends; and the rank it must be on.
Action MatchOf(const Action& send, int rank) {
  const bool forward = send.kind == ActionKind::kSendActivation;
  return {forward ? ActionKind::kRecvActivation : ActionKind::kRecvGradient,
          send.stage + (forward ? 1 : -1), send.micro_batch, rank};
}

using Link = std::pair<int, int>;  // from, to

// Both ends of each link must list the same messages in the same order. Each is named by its
// receive.
void CheckLinks(const Schedule& schedule) {
  std::map<Link, std::vector<Action>> sent, received;
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    for (const Action& action : schedule.ranks[rank]) {
      if (IsSend(action.kind)) sent[{rank, action.peer}].push_back(MatchOf(action, rank));
      if (IsRecv(action.kind)) received[{action.peer, rank}].push_back(action);
    }
  }
  for (const auto& [link, wanted] : received) sent.try_emplace(link);
  for (const auto& [link, messages] : sent) {
    const std::vector<Action>& wanted = received[link];
    for (size_t i = 0; i < std::max(messages.size(), wanted.size()); ++i) {
      const std::string send = i < messages.size() ? ToString(messages[i]) : "nothing";
      const std::string recv = i < wanted.size() ? ToString(wanted[i]) : "nothing";
      Rule(send == recv, schedule,
           "message {} from rank {} to rank {}: sent is what {} takes, received by {}", i,
           link.first, link.second, send, recv);
    }
  }
}

// Runs the lists with sends that do not wait. After its last reduction a rank takes part in sums
// over the whole pipeline (tied gradients, the norm for clipping), so nobody passes that before all
// have come to it.
class DeadlockSearch {
 public:
  explicit DeadlockSearch(const Schedule& schedule)
      : schedule_(schedule),
        next_(schedule.num_ranks, 0),
        reductions_left_(schedule.num_ranks, 0),
        ranks_left_(schedule.num_ranks) {
    for (int rank = 0; rank < schedule.num_ranks; ++rank)
      for (const Action& action : schedule.ranks[rank])
        reductions_left_[rank] += action.kind == ActionKind::kReduce;
  }

  // Who cannot go on at the end, and where; empty when all ranks end.
  std::string Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.num_ranks; ++rank)
        for (; !Ended(rank) && CanRun(rank, Next(rank)); ++next_[rank]) moved = true;
    }
    std::string stuck;
    for (int rank = 0; rank < schedule_.num_ranks; ++rank)
      if (!Ended(rank))
        stuck +=
            fmt::format("{}rank {} at {}", stuck.empty() ? "" : ", ", rank, ToString(Next(rank)));
    return stuck;
  }

 private:
  bool Ended(int rank) const { return next_[rank] == schedule_.ranks[rank].size(); }
  const Action& Next(int rank) const { return schedule_.ranks[rank][next_[rank]]; }

  bool CanRun(int rank, const Action& action) {
    if (IsSend(action.kind)) ++under_way_[{rank, action.peer}];
    if (IsRecv(action.kind)) return Take(under_way_[{action.peer, rank}]);
    return action.kind != ActionKind::kReduce || CanReduce(rank);
  }

  static bool Take(int& messages) { return messages > 0 && messages-- > 0; }

  // Asked again for a rank that waits at its last reduction, whose count is then 0 already.
  bool CanReduce(int rank) {
    int& left = reductions_left_[rank];
    if (left > 0 && --left == 0) --ranks_left_;
    return left > 0 || ranks_left_ == 0;
  }

  const Schedule& schedule_;
  std::vector<size_t> next_;          // of each rank, into its list
  std::vector<int> reductions_left_;  // of each rank
  int ranks_left_;                    // that have not come to their last reduction
  std::map<Link, int> under_way_;     // messages sent and not yet received
};

}  // namespace

ScheduleFacts Verify(const Schedule& schedule) {
  const std::vector<int> owners = StageOwners(schedule);
  ScheduleFacts facts;
  for (int stage = 0; stage < schedule.num_stages; ++stage) {
    facts.in_flight.push_back(CheckStage(schedule, owners, stage));
  }
  for (int rank = 0; rank < schedule.num_ranks; ++rank) CheckRank(schedule, owners, rank);
  CheckLinks(schedule);
  const std::string stuck = DeadlockSearch(schedule).Run();
  Rule(stuck.empty(), schedule, "deadlock: {}", stuck);
  return facts;
}

}  // namespace torus::parallel
