#include "parallel/schedule/simulator.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "parallel/link/link_clock.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

double At(const std::vector<double>& list, int stage, double otherwise = 0) {
  return list.empty() ? otherwise : list[stage];
}

class Simulator {
 public:
  Simulator(const Schedule& schedule, const CostModel& costs)
      : schedule_(schedule),
        costs_(costs),
        owners_(StageOwners(schedule)),
        free_(schedule.num_ranks, 0),
        held_(schedule.num_ranks, 0) {
    CheckCosts(costs, schedule.num_stages);
    Require(costs.links.largest_rank() < schedule.num_ranks, "simulator",
            "a link names rank {}, but there are {} ranks", costs.links.largest_rank(),
            schedule.num_ranks);
    result_.ranks.resize(schedule.num_ranks);
    result_.busy.assign(schedule.num_ranks, 0);
    for (int stage = 0; stage < schedule.num_stages; ++stage)
      held_[owners_[stage]] += At(costs.state_bytes, stage);
    result_.peak_bytes = held_;
    for (const std::vector<Action>& actions : schedule.ranks)
      reduces_ += std::ranges::count(actions, ActionKind::kReduce, &Action::kind);
  }

  Simulation Run() {
    std::vector<size_t> next(schedule_.num_ranks, 0);
    // Ranks wait only for each other's results, so repeated sweeps until nothing moves find every
    // start time.
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
        while (next[rank] < schedule_.ranks[rank].size() && Advance(rank, next[rank])) {
          ++next[rank];
          moved = true;
        }
      }
    }
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
      Require(next[rank] == schedule_.ranks[rank].size(), "simulator",
              "{} cannot end: rank {} stops before its action {}", schedule_.name, rank,
              next[rank]);
    }
    Summarize();
    return std::move(result_);
  }

 private:
  using Key = std::tuple<bool, int, int>;  // forward?, stage, micro-batch
  using Ranks = std::pair<int, int>;       // from, to

  double Cost(const Action& action) const {
    const int stage = action.stage;
    switch (action.kind) {
      case ActionKind::kForward:
        return At(costs_.forward, stage, 1);
      case ActionKind::kBackward:
        return At(costs_.backward, stage, 1);
      case ActionKind::kBackwardInput:
        return At(costs_.backward, stage, 1) * costs_.backward_input_share;
      case ActionKind::kBackwardWeight:
        return At(costs_.backward, stage, 1) * (1 - costs_.backward_input_share);
      case ActionKind::kReduce:
        return At(costs_.reduce, stage);
      case ActionKind::kStep:
        return At(costs_.step, stage);
      default:
        return 0;
    }
  }

  // The cut that a result of `action` crosses, named by the stage before it; -1 at the model's ends
  // and between stages of one rank.
  int CutBehind(const Action& action) const { return Cut(action, IsForward(action.kind)); }
  // The cut that its input has crossed, likewise.
  int CutBefore(const Action& action) const { return Cut(action, !IsForward(action.kind)); }
  int Cut(const Action& action, bool up) const {
    const int before = up ? action.stage : action.stage - 1;
    if (action.kind == ActionKind::kBackwardWeight || before < 0 ||
        before + 1 >= schedule_.num_stages || owners_[before] == owners_[before + 1])
      return -1;
    return before;
  }

  std::optional<double> Find(const std::map<Key, double>& times, const Key& key) const {
    const auto it = times.find(key);
    return it == times.end() ? std::nullopt : std::optional(it->second);
  }

  // The time when the input of `action` from the neighbouring stage arrives; nothing if not yet
  // known.
  std::optional<double> Arrival(const Action& action) const {
    const bool forward = IsForward(action.kind);
    const int from = action.stage + (forward ? -1 : 1);
    if (from < 0 || from >= schedule_.num_stages) return 0.0;
    return Find(arrivals_, {forward, from, action.micro_batch});
  }

  // The time when all that `action` needs has arrived; nothing if not yet known.
  std::optional<double> Ready(const Action& action) const {
    if (action.kind == ActionKind::kStep)
      return reduces_ == 0 ? std::optional(reduced_) : std::nullopt;
    if (!IsCompute(action.kind)) return 0.0;
    if (action.kind == ActionKind::kBackwardWeight)
      return Find(ends_, {false, action.stage, action.micro_batch});
    const auto arrival = Arrival(action);
    if (IsForward(action.kind) || !arrival) return arrival;
    const auto forward = Find(ends_, {true, action.stage, action.micro_batch});
    return forward ? std::optional(std::max(*forward, *arrival)) : std::nullopt;
  }

  bool Advance(int rank, size_t index) {
    const Action& action = schedule_.ranks[rank][index];
    const std::optional<double> ready = Ready(action);
    if (!ready) return false;
    const double cost = Cost(action);
    if (action.kind == ActionKind::kReduce) {
      --reduces_;
      reduced_ = std::max(reduced_, free_[rank] + cost);
    }
    if (!IsCompute(action.kind) && cost == 0) return true;
    const int cut = IsCompute(action.kind) ? CutBefore(action) : -1;
    const double begin = std::max(*ready, free_[rank]) + (cut >= 0 ? At(costs_.decode, cut) : 0);
    result_.ranks[rank].push_back({action, begin, begin + cost});
    result_.busy[rank] += cost;
    free_[rank] = begin + cost;
    if (IsCompute(action.kind)) Finish(action, rank);
    return true;
  }

  // Records what `action`, which has just ended, has produced and freed, and sends its result.
  void Finish(const Action& action, int rank) {
    const bool forward = IsForward(action.kind);
    Hold(rank, (forward                                     ? 1
                : action.kind == ActionKind::kBackwardInput ? 0
                                                            : -1) *
                   At(costs_.activation_bytes, action.stage));
    if (action.kind == ActionKind::kBackwardWeight) return;
    const Key key{forward, action.stage, action.micro_batch};
    ends_[key] = free_[rank];
    const int cut = CutBehind(action);
    arrivals_[key] =
        cut < 0 ? free_[rank] : Send(action, cut, rank, action.stage + (forward ? 1 : -1));
  }

  void Hold(int rank, double bytes) {
    held_[rank] += bytes;
    result_.peak_bytes[rank] = std::max(result_.peak_bytes[rank], held_[rank]);
  }

  // Returns when the result of `action` has arrived at the rank of stage `to`.
  double Send(const Action& action, int cut, int rank, int to) {
    const Ranks ranks{rank, owners_[to]};
    const double bytes = At(costs_.boundary_bytes, cut);
    free_[rank] += At(costs_.encode, cut);
    const LinkModel& link = costs_.links.Get(ranks.first, ranks.second);
    LinkClock& clock = clocks_.try_emplace(ranks, link, ranks.first, ranks.second).first->second;
    result_.sent_bytes[ranks] += bytes;
    const LinkTimes times = clock.Carry(bytes, free_[rank]);
    result_.transfers.push_back({ranks.first, ranks.second, IsForward(action.kind),
                                 action.micro_batch, times.begin, times.arrival});
    return times.arrival;
  }

  void Summarize() {
    double busy = 0;
    for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
      busy += result_.busy[rank];
      if (!result_.ranks[rank].empty())
        result_.makespan = std::max(result_.makespan, result_.ranks[rank].back().end);
    }
    const double total = schedule_.num_ranks * result_.makespan;
    result_.bubble = total > 0 ? 1 - busy / total : 0;
  }

  const Schedule& schedule_;
  const CostModel& costs_;
  const std::vector<int> owners_;
  Simulation result_;
  std::vector<double> free_;  // when each rank becomes free
  std::vector<double> held_;  // bytes of each rank now
  std::map<Ranks, LinkClock> clocks_;
  std::map<Key, double> ends_, arrivals_;  // of results: when computed, when they arrive
  int64_t reduces_ = 0;                    // that have not run yet
  double reduced_ = 0;                     // when the last of the others ended
};

}  // namespace

Simulation Simulate(const Schedule& schedule, const CostModel& costs) {
  return Simulator(schedule, costs).Run();
}

}  // namespace torus::parallel
