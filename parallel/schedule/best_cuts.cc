#include "parallel/schedule/best_cuts.h"

#include <algorithm>
#include <utility>

#include "parallel/schedule/cut_search.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The rank that exceeds its limit by the most bytes, and that number; below 0 if none does.
std::pair<int, double> MostOver(const CutPlan& plan, const std::vector<double>& limits) {
  std::pair<int, double> most{0, -1};
  for (int rank = 0; rank < std::ssize(limits); ++rank)
    if (const double over = plan.simulation.peak_bytes[rank] - limits[rank]; over > most.second)
      most = {rank, over};
  return most;
}

class Climber {
 public:
  Climber(const Schedule& schedule, const CostModel& blocks, const std::vector<double>& limits)
      : schedule_(schedule), blocks_(blocks), limits_(limits) {}

  CutPlan PlanOf(std::vector<int> cuts) const {
    CostModel costs = JoinBlocks(blocks_, cuts);
    Simulation simulation = Simulate(schedule_, costs);
    return {std::move(cuts), std::move(costs), std::move(simulation)};
  }

  // Moves a cut, or two neighbouring cuts, as long as that improves the plan.
  CutPlan Improved(CutPlan plan) const {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t i = 0; i < plan.cuts.size(); ++i) moved |= Move(plan, i);
      for (size_t i = 0; i + 1 < plan.cuts.size() && !moved; ++i) moved = MoveTwo(plan, i);
    }
    return plan;
  }

  bool Better(const CutPlan& one, const CutPlan& other) const {
    const double over = std::max(0.0, MostOver(one, limits_).second),
                 other_over = std::max(0.0, MostOver(other, limits_).second);
    return over < other_over ||
           (over == other_over && one.simulation.makespan < other.simulation.makespan);
  }

 private:
  bool Take(CutPlan& plan, std::vector<int> cuts) const {
    int last = 0;
    for (const int cut : cuts)
      if (cut <= std::exchange(last, cut)) return false;
    if (last >= std::ssize(blocks_.forward)) return false;
    CutPlan other = PlanOf(std::move(cuts));
    if (!Better(other, plan)) return false;
    plan = std::move(other);
    return true;
  }

  // Moves cut i to the best place between its neighbours.
  bool Move(CutPlan& plan, size_t i) const {
    const int first = i == 0 ? 1 : plan.cuts[i - 1] + 1;
    const int end =
        i + 1 < plan.cuts.size() ? plan.cuts[i + 1] : static_cast<int>(blocks_.forward.size());
    bool moved = false;
    for (int place = first; place < end; ++place) {
      std::vector<int> cuts = plan.cuts;
      if (std::exchange(cuts[i], place) != place) moved |= Take(plan, std::move(cuts));
    }
    return moved;
  }

  // Moves cuts i and i + 1 by one or two blocks each.
  bool MoveTwo(CutPlan& plan, size_t i) const {
    const std::vector<int> from = plan.cuts;
    bool moved = false;
    for (const int one : {-2, -1, 1, 2})
      for (const int other : {-2, -1, 1, 2}) {
        std::vector<int> cuts = from;
        cuts[i] += one, cuts[i + 1] += other;
        moved |= Take(plan, std::move(cuts));
      }
    return moved;
  }

  const Schedule& schedule_;
  const CostModel& blocks_;
  const std::vector<double>& limits_;
};

void CheckCutArguments(const Schedule& schedule, const CostModel& blocks,
                       const std::vector<double>& limits) {
  const int count = static_cast<int>(blocks.forward.size());
  Require(count >= schedule.num_stages && blocks.backward.size() == blocks.forward.size(), "cut",
          "needs forward and backward times of a block for each of {} stages, got {} and {}",
          schedule.num_stages, count, blocks.backward.size());
  CheckCosts(blocks, count);
  Require(limits.empty() || std::ssize(limits) == schedule.num_ranks, "cut",
          "needs the memory of each of {} ranks, got {}", schedule.num_ranks, limits.size());
}

}  // namespace

CutPlan BestCuts(const Schedule& schedule, const CostModel& blocks,
                 const std::vector<double>& limits) {
  CheckCutArguments(schedule, blocks, limits);
  const std::vector<double> own =
      schedule.num_stages == schedule.num_ranks ? limits : std::vector<double>();
  const Climber climber(schedule, blocks, limits);
  CutPlan plan = climber.PlanOf(SearchCuts(schedule, blocks, own, true));
  if (!ForwardsFirst(schedule)) {
    plan = climber.Improved(std::move(plan));
    CutPlan other = climber.Improved(climber.PlanOf(SearchCuts(schedule, blocks, own, false)));
    if (climber.Better(other, plan)) plan = std::move(other);
  }
  const auto [rank, over] = MostOver(plan, limits);
  Require(over <= 0, "cut",
          "found no cut into {} stages that keeps the memory of its ranks; of the one that comes "
          "nearest, {}, rank {} needs {:.1f} MiB and has {:.1f}",
          schedule.num_stages, fmt::join(plan.cuts, ","), rank,
          plan.simulation.peak_bytes[rank] / 0x1p20, limits.empty() ? 0 : limits[rank] / 0x1p20);
  return plan;
}

}  // namespace torus::parallel
