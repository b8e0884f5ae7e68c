// Trains the tiny model through the executor, one thread a rank.
#pragma once

#include <functional>
#include <mutex>

#include "parallel/pipeline/partition.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/transport/run_ranks.h"
#include "tests/parallel/pipeline/tiny_model.h"

namespace torus::parallel::tiny {

struct PipelineRun {
  Schedule schedule;
  Cuts cuts;
  int steps = 3;
  int samples = 10;
  double timeout = 60;
  // Called with the options of each rank before its executor is made, and with the executor at the
  // end.
  std::function<void(int rank, Transport&, ExecutorOptions&)> adjust;
  std::function<void(int rank, Executor&)> at_end;
  std::function<std::vector<Block>()> blocks = [] { return MakeBlocks(1); };
};

inline Trained TrainPipeline(const PipelineRun& run) {
  InProcessWorld world(run.schedule.num_ranks, {.timeout = run.timeout});
  std::mutex mutex;
  Trained trained;
  const std::vector<int> owners = StageOwners(run.schedule);
  RunRanks(world, [&](Transport& transport) {
    std::vector<Stage> stages = MakeStages(run.blocks(), run.cuts);
    std::map<int, Stage*> mine;
    for (int s = 0; s < run.schedule.num_stages; ++s) {
      if (owners[s] == transport.rank()) mine[s] = &stages[s];
    }
    ExecutorOptions options;
    options.loss = Loss;
    options.skips = FindSkipConnections(run.blocks(), run.cuts);
    options.on_step = [&stages](int stage, int64_t) {
      Descend(stages[stage].Parameters());
      return true;
    };
    if (run.adjust) run.adjust(transport.rank(), transport, options);
    Executor executor(transport, run.schedule, mine, options);
    const int m = run.schedule.num_micro_batches;
    executor.AgreeOnShapes(InputSpecs(run.samples, m));
    std::vector<double> losses;
    for (int step = 0; step < run.steps; ++step) {
      losses.push_back(executor.Run(MakeBatch(step, run.samples, m), RunMode::kTrain).loss);
    }
    if (run.at_end) run.at_end(transport.rank(), executor);
    const std::lock_guard lock(mutex);
    for (const auto& [s, stage] : mine) Collect(stage->Parameters(), trained.parameters);
    if (mine.count(run.schedule.num_stages - 1)) trained.losses = losses;
  });
  return trained;
}

}  // namespace torus::parallel::tiny
