#include "parallel/trainer/run_schedule.h"

#include <numeric>

#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/schedule/lowering.h"
#include "parallel/schedule/split_stages.h"
#include "parallel/schedule/verifier.h"
#include "parallel/trainer/rank_model.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<int> BlocksOfStages(Cuts cuts, int blocks) {
  cuts.push_back(blocks);
  std::vector<int> counts;
  std::adjacent_difference(cuts.begin(), cuts.end(), std::back_inserter(counts));
  return counts;
}

}  // namespace

Schedule RunScheduleOf(TrainerOptions& options, const TrainingParts& parts) {
  const Schedule whole = ScheduleOf(options);
  if (!GathersWeights(options.strategy) || options.replicas == 1) return whole;
  const std::vector<Block> blocks = parts.model();
  const int count = static_cast<int>(blocks.size());
  const std::vector<int> counts = BlocksOfStages(ChooseCuts(options, blocks), count);
  Schedule schedule = GatherAroundCompute(Lower(SplitStages(whole, counts)));
  Verify(schedule);
  options.stages = count;
  options.cuts.resize(count - 1);
  std::iota(options.cuts.begin(), options.cuts.end(), 1);
  return schedule;
}

}  // namespace torus::parallel
