// Executor: runs a rank's part of a schedule. It has no loop of its own for any schedule: it does
// what the list says.
//
//   Executor executor(transport, MakeSchedule("gpipe", 2, 4), stages of this rank, options);
//   executor.AgreeOnShapes(input specs of the largest micro-batch);
//   for (...) StepResult r = executor.Train(mini_batch);
//
// A pipeline of one stage is the same thing with nobody to talk to. Every exception leaves with the
// action, rank, stage, step and micro-batch added, and of the kind it had.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "parallel/pipeline/executor_options.h"
#include "parallel/pipeline/mini_batch.h"
#include "parallel/pipeline/rank_totals.h"
#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/schedule/schedule.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// One cut's bytes as this rank sent them.
struct CutTraffic {
  int stage = 0;        // the first stage after the cut
  bool forward = true;  // activations; else gradients
  int peer = 0;
  uint64_t raw_bytes = 0;   // what the tensors hold
  uint64_t sent_bytes = 0;  // what their payloads took, headers not counted
};

class Executor {
 public:
  // `transport` spans the ranks of this pipeline alone (a Group of the world when there are
  // replicas). `stages` has every stage that the schedule gives this rank and no other; they must
  // outlive the executor. BadInput otherwise.
  Executor(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
           ExecutorOptions options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Called once, by all ranks together, before the first step. Each stage but the last in turn runs
  // forward on zeros (a DryRun), with gradients off and in evaluation mode, and tells the next one
  // what comes out; buffers are made to fit. `inputs`: what stage 0 gets for the largest micro-batch (ignored
  // elsewhere). Nothing larger may come later.
  void AgreeOnShapes(const std::vector<TensorSpec>& inputs);

  // Called after that, by all ranks together. Each stage in turn runs forward in training mode on
  // what stage 0 gets for the smallest micro-batch, so that a layer which needs more (batch norm:
  // more than one value a channel) refuses it here and not at the end of an epoch.
  void CheckSmallest(const std::vector<TensorSpec>& inputs);

  // One training step. The parameters' gradients must be undefined before (ZeroGrad in on_step);
  // they are summed over micro-batches in ascending order, each weighted by its samples.
  StepResult Train(const MiniBatch& batch);

  // The forwards of the same schedule, with gradients off and in evaluation mode; the loss is
  // weighted as in Train.
  StepResult Evaluate(const MiniBatch& batch);

  // Of the mini-batch that runs or ran last: whether the loss, and all that met a codec on this
  // rank, are finite. For on_reduce, which comes after the last backward.
  bool finite() const;

  const RankTotals& totals() const;
  std::vector<CutTraffic> traffic() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace torus::parallel
