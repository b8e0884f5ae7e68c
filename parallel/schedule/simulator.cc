#include "parallel/schedule/simulator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

class Simulator {
 public:
  Simulator(const Schedule& schedule, const CostModel& costs)
      : schedule_(schedule), costs_(costs), owners_(StageOwners(schedule)) {
    CheckCosts(costs.forward, "forward");
    CheckCosts(costs.backward, "backward");
  }

  Simulation Run() {
    Simulation result;
    result.ranks.resize(schedule_.num_ranks);
    std::vector<size_t> next(schedule_.num_ranks, 0);
    // Ranks only ever wait for each other's results, so sweeping until nothing moves finds every
    // start time.
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < schedule_.num_ranks; ++rank) {
        while (next[rank] < schedule_.ranks[rank].size() && Advance(rank, next[rank], result)) {
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
    Summarize(result);
    return result;
  }

 private:
  using Key = std::tuple<ActionKind, int, int>;  // kind, stage, micro-batch

  void CheckCosts(const std::vector<double>& costs, const char* name) const {
    Require(costs.empty() || static_cast<int>(costs.size()) == schedule_.num_stages, "simulator",
            "needs a {} cost for each of {} stages, got {}", name, schedule_.num_stages,
            costs.size());
  }

  double Cost(const Action& action) const {
    const std::vector<double>& list = IsForward(action.kind) ? costs_.forward : costs_.backward;
    const double whole = list.empty() ? 1.0 : list[action.stage];
    if (action.kind == ActionKind::kBackwardInput) return whole * costs_.backward_input_share;
    if (action.kind == ActionKind::kBackwardWeight)
      return whole * (1 - costs_.backward_input_share);
    return whole;
  }

  std::optional<double> EndOf(ActionKind kind, int stage, int micro_batch) const {
    const auto it = ends_.find({kind, stage, micro_batch});
    return it == ends_.end() ? std::nullopt : std::optional(it->second);
  }

  // When the result of the neighbouring stage reaches this one; nothing while it is not known.
  std::optional<double> Arrival(const Action& action) const {
    const bool forward = IsForward(action.kind);
    const int from = action.stage + (forward ? -1 : 1);
    if (from < 0 || from >= schedule_.num_stages) return 0.0;
    std::optional<double> end =
        EndOf(forward ? ActionKind::kForward : ActionKind::kBackward, from, action.micro_batch);
    if (!forward && !end) end = EndOf(ActionKind::kBackwardInput, from, action.micro_batch);
    if (end && owners_[from] != owners_[action.stage]) *end += costs_.transfer;
    return end;
  }

  // When what `action` needs is there.
  std::optional<double> Ready(const Action& action) const {
    if (action.kind == ActionKind::kBackwardWeight) {
      return EndOf(ActionKind::kBackwardInput, action.stage, action.micro_batch);
    }
    if (IsForward(action.kind)) return Arrival(action);
    const auto forward = EndOf(ActionKind::kForward, action.stage, action.micro_batch);
    const auto arrival = Arrival(action);
    if (!forward || !arrival) return std::nullopt;
    return std::max(*forward, *arrival);
  }

  bool Advance(int rank, size_t index, Simulation& result) {
    const Action& action = schedule_.ranks[rank][index];
    if (!IsCompute(action.kind)) return true;
    const std::optional<double> ready = Ready(action);
    if (!ready) return false;
    std::vector<TimedAction>& line = result.ranks[rank];
    const double begin = std::max(*ready, line.empty() ? 0.0 : line.back().end);
    line.push_back({action, begin, begin + Cost(action)});
    ends_[{action.kind, action.stage, action.micro_batch}] = line.back().end;
    return true;
  }

  void Summarize(Simulation& result) const {
    double busy = 0;
    for (const std::vector<TimedAction>& line : result.ranks) {
      for (const TimedAction& timed : line) busy += timed.end - timed.begin;
      if (!line.empty()) result.makespan = std::max(result.makespan, line.back().end);
    }
    const double total = schedule_.num_ranks * result.makespan;
    result.bubble = total > 0 ? 1 - busy / total : 0;
  }

  const Schedule& schedule_;
  const CostModel& costs_;
  std::vector<int> owners_;
  std::map<Key, double> ends_;
};

}  // namespace

Simulation Simulate(const Schedule& schedule, const CostModel& costs) {
  return Simulator(schedule, costs).Run();
}

}  // namespace torus::parallel
