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

// Whether `action` uses a result of the stage before it (forward) or after it (backward) and that
// stage, `neighbour`, is on the same rank.
bool NeedsLocalStage(const Action& action, int neighbour, const std::vector<int>& owners) {
  return IsCompute(action.kind) && action.kind != ActionKind::kBackwardWeight && neighbour >= 0 &&
         neighbour < static_cast<int>(owners.size()) && owners[neighbour] == owners[action.stage];
}

// Checks the rules between the stages of one rank. They send each other no messages, so only the
// order of the list ensures that inputs are computed first.
void CheckRank(const Schedule& schedule, const std::vector<int>& owners, int rank) {
  const std::vector<Action>& actions = schedule.ranks[rank];
  ActionPlace at{rank};
  Rule(!actions.empty(), schedule, at, "rank {} runs no stage", rank);
  std::set<std::tuple<bool, int, int>> done;  // forward?, stage, micro-batch
  const Action* step = nullptr;
  for (; at.index < actions.size(); ++at.index) {
    const Action& action = actions[at.index];
    const bool forward = IsForward(action.kind);
    const int neighbour = action.stage + (forward ? -1 : 1);
    Rule(!NeedsLocalStage(action, neighbour, owners) ||
             done.contains({forward, neighbour, action.micro_batch}),
         schedule, at, "rank {} runs {} before the {} of stage {} on that micro-batch", rank,
         action, forward ? "forward" : "backward", neighbour);
    if (IsCompute(action.kind)) done.insert({forward, action.stage, action.micro_batch});
    if (action.kind == ActionKind::kStep) step = &action;
    if (step != nullptr)
      Rule(action.kind != ActionKind::kReduce, schedule, at, "rank {} runs {} after {}", rank,
           action, *step);
  }
}

// The receive that matches `send`, run on `rank`.
Action MatchOf(const Action& send, int rank) {
  const bool forward = send.kind == ActionKind::kSendActivation;
  return {forward ? ActionKind::kRecvActivation : ActionKind::kRecvGradient,
          send.stage + (forward ? 1 : -1), send.micro_batch, rank};
}

using Link = std::pair<int, int>;  // from, to

// The messages of a link, as listed by one of its ends.
struct Messages {
  std::vector<Action> receives;
  std::vector<ActionPlace> places;

  void Add(const Action& recv, int rank, size_t index) {
    receives.push_back(recv);
    places.push_back({rank, index});
  }
  size_t size() const { return receives.size(); }
  std::string Name(size_t i) const { return i < size() ? ToString(receives[i]) : "nothing"; }
};

// Both ends of a link must list the same messages in the same order.
void CheckLink(const Schedule& schedule, const Link& link, const Messages& sent,
               const Messages& received) {
  for (size_t i = 0; i < std::max(sent.size(), received.size()); ++i) {
    const bool both = i < sent.size() && i < received.size();
    if (both && sent.receives[i] == received.receives[i]) continue;
    Rule(false, schedule, i < received.size() ? received.places[i] : sent.places[i],
         "message {} from rank {} to rank {}: sent is what {} takes, received by {}", i, link.first,
         link.second, sent.Name(i), received.Name(i));
  }
}

void CheckLinks(const Schedule& schedule) {
  std::map<Link, std::pair<Messages, Messages>> links;  // sent, received
  for (int rank = 0; rank < schedule.num_ranks; ++rank) {
    const std::vector<Action>& actions = schedule.ranks[rank];
    for (size_t i = 0; i < actions.size(); ++i) {
      const Action& action = actions[i];
      if (IsSend(action.kind)) links[{rank, action.peer}].first.Add(MatchOf(action, rank), rank, i);
      if (IsRecv(action.kind)) links[{action.peer, rank}].second.Add(action, rank, i);
    }
  }
  for (const auto& [link, ends] : links) CheckLink(schedule, link, ends.first, ends.second);
}

// Runs the lists with sends that do not block. After its last reduction a rank takes part in sums
// over the whole pipeline (tied gradients, the norm for clipping), so no rank passes its last
// reduction before all ranks have reached theirs.
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

  // Throws BadInput, naming the ranks that cannot go on and where, unless all ranks reach the end.
  void Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.num_ranks; ++rank)
        for (; !Ended(rank) && CanRun(rank, Next(rank)); ++next_[rank]) moved = true;
    }
    std::vector<std::string> stuck;
    ActionPlace at;
    for (int rank = schedule_.num_ranks; rank-- > 0;) {
      if (Ended(rank)) continue;
      stuck.push_back(fmt::format("rank {} at {}", rank, ToString(Next(rank))));
      at = {rank, next_[rank]};
    }
    std::reverse(stuck.begin(), stuck.end());
    Rule(stuck.empty(), schedule_, at, "deadlock: {}", fmt::join(stuck, ", "));
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

  // Called repeatedly for a rank that waits at its last reduction; its count is already 0 then.
  bool CanReduce(int rank) {
    int& left = reductions_left_[rank];
    if (left > 0 && --left == 0) --ranks_left_;
    return left > 0 || ranks_left_ == 0;
  }

  const Schedule& schedule_;
  std::vector<size_t> next_;          // of each rank, into its list
  std::vector<int> reductions_left_;  // of each rank
  int ranks_left_;                    // that have not reached their last reduction
  std::map<Link, int> under_way_;     // messages sent and not yet received
};

// Of all stages of a rank together.
int MostInFlight(const std::vector<Action>& actions) {
  int now = 0, most = 0;
  for (const Action& action : actions) {
    now += IsForward(action.kind);
    now -= IsBackward(action.kind) && action.kind != ActionKind::kBackwardInput;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

ScheduleFacts Verify(const Schedule& schedule) {
  const std::vector<int> owners = StageOwners(schedule);
  ScheduleFacts facts;
  for (int stage = 0; stage < schedule.num_stages; ++stage) {
    facts.in_flight.push_back(CheckStage(schedule, owners, stage));
  }
  for (int rank = 0; rank < schedule.num_ranks; ++rank) CheckRank(schedule, owners, rank);
  CheckLinks(schedule);
  DeadlockSearch(schedule).Run();
  for (const std::vector<Action>& actions : schedule.ranks)
    facts.rank_in_flight.push_back(MostInFlight(actions));
  return facts;
}

}  // namespace torus::parallel
