// RankWorker: what one rank of a run holds and does. Trainer's own part.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "parallel/data_parallel/data_parallel.h"
#include "parallel/pipeline/executor.h"
#include "parallel/trainer/parameter_table.h"
#include "parallel/trainer/step_board.h"
#include "parallel/trainer/tied_gradients.h"
#include "parallel/trainer/trainer_options.h"
#include "parallel/trainer/weight_average.h"
#include "parallel/trainer/world_layout.h"
#include "parallel/transport/group.h"

namespace torus::parallel {

// What a rank has counted since it began; two of them subtracted give a segment's.
struct RankCounts {
  RankTotals times;
  double data_wait = 0;
  double wall = 0;                      // inside training steps
  std::vector<CutTraffic> cuts;         // peers are world ranks
  std::vector<uint64_t> reduced_bytes;  // sent to each world rank in all-reduces
};

// What a rank saw of an evaluation.
struct RankScore {
  double loss_sum = 0;  // mean loss x samples
  int64_t correct = 0;
};

class RankWorker {
 public:
  // What all ranks of a run have in common.
  struct Run {
    const WorldLayout& layout;
    const Schedule& schedule;
    const ParameterTable& table;
    const TrainerOptions& options;
    const TrainingParts& parts;
  };
  // `stages`: those of the place, by number. The references must outlive the worker.
  RankWorker(Transport& world, const Run& run, int rank, std::map<int, Stage> stages);

  // All ranks call each of the following, up to counts(), together, each on its own thread.
  void Prepare();
  // Runs the steps from `step` on until StepBoard::Begin returns false.
  void Train(StepBoard& board, const BatchFn& batches, int64_t step);
  // The same from step 0 on.
  RankScore Evaluate(StepBoard& board, const BatchFn& batches);
  // Copies replica 0's parameters and buffers to all, bit for bit.
  void BroadcastState();
  // Its buffers alone.
  void BroadcastBuffers();

  RankCounts counts() const;
  const RankPlace& place() const { return place_; }
  const std::map<int, Stage>& stages() const { return stages_; }
  Optimizer& optimizer(int stage) { return *work_.at(stage).optimizer; }
  // Null without averages.
  WeightAverage* average(int stage) { return work_.at(stage).average.get(); }

 private:
  struct StageWork {
    std::unique_ptr<DataParallel> replicas;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<WeightAverage> average;  // null without
    std::vector<NamedVariable> parameters;   // each once
  };
  ExecutorOptions MakeExecutorOptions();
  void CheckSmallest();
  void Reduce(int stage, int64_t step);
  void FinishGradients(int64_t step);
  bool OwnStepIsFinite(const std::vector<double>& squares) const;
  bool Step(int stage);
  Variable Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets);
  void SwapAverages();
  MiniBatch Fetch(const BatchFn& batches, int64_t step);
  [[noreturn]] void RethrowWithReplica() const;  // the exception being handled
  void UseOwnThreads() const;

  Transport& world_;
  const WorldLayout& layout_;
  const RankPlace place_;
  const ParameterTable& table_;
  const TrainerOptions& options_;
  const TrainingParts& parts_;
  Group pipeline_, replicas_;
  std::map<int, Stage> stages_;
  std::map<int, StageWork> work_;
  std::unique_ptr<TiedGradients> tied_;
  std::unique_ptr<Executor> executor_;
  // Of the step that runs.
  double learning_rate_ = 0, gradient_scale_ = 1;
  bool skip_ = false;   // on all ranks alike
  size_t reduced_ = 0;  // stages of this rank
  bool scoring_ = false;
  RankScore score_;
  double data_wait_ = 0, wall_ = 0;
  double finite_wait_ = 0;  // until all ranks have said whether their gradients are finite
};

}  // namespace torus::parallel
