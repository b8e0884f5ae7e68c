// Trainer: the training loop that an application embeds: `replicas` copies of a pipeline of
// `stages`. It runs a RankTrainer for every rank of this process, over a World: threads of this
// process, unless the application gives another.
//
//   Trainer trainer({.stages = 2, .micro_batches = 4}, parts);
//   trainer.Train(1000, batches);
//   trainer.Save("checkpoint");
//
// A step: every replica computes its micro-batches through its pipeline, the replicas of a stage
// sum their gradients, every stage takes the optimizer's step, and batch norm commits its running
// statistics. The same seed and micro-batches give the same bits wherever the model is cut (for
// equal threads a rank and codec none), and a run that continues from a State gives the bits of one
// that never stopped.
//
// A step whose loss, gradients or tensors behind a codec hold an infinity or NaN on any rank is
// skipped on all: weights, optimizer state, averages and running statistics stay as they were, and
// the step counts as done.
//
// Evaluation runs through the same pipeline, codec included: that is what was trained. With
// TrainerOptions::ema_decay it is the averaged weights that are evaluated.
//
// The first error on any rank ends all of them, each at the end of the op that it is in, and is
// thrown on the caller's thread, naming rank, stage, step and what was being done or waited for.
// All threads have ended then, and nothing but the trainer's totals may be used.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "parallel/trainer/train_hooks.h"
#include "parallel/trainer/train_state.h"
#include "parallel/trainer/train_totals.h"
#include "parallel/trainer/trainer_options.h"
#include "parallel/transport/world.h"

namespace torus::parallel {

// In a world of several processes each has a Trainer, and all of them make the same calls in the
// same order. Hooks and `stop` are called where rank 0 is, `batches` for the ranks of the process.
class Trainer {
 public:
  // Makes the stages, agrees on shapes and makes the replicas equal. BadInput for options that do
  // not fit the model.
  Trainer(TrainerOptions options, TrainingParts parts);
  // The same over a world that outlives the trainer; its ranks are those of the options (BadInput
  // otherwise), its deadlines replace TrainerOptions::timeout and grace.
  Trainer(World& world, TrainerOptions options, TrainingParts parts);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Runs steps until step() == end or the stop hook says so. `batches` must stay valid meanwhile.
  // TooManySkipped after max_skipped skipped steps in a row: then all ranks have ended in order,
  // and State() is what it was before these.
  void Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks = {});
  // Forward alone, gradients off, over `count` mini-batches (steps 0 .. count - 1 of `batches`).
  // `stop` is asked before each of them; true ends the call.
  EvaluationResult Evaluate(int64_t count, const BatchFn& batches,
                            const std::function<bool()>& stop = {});

  int64_t step() const;  // mini-batches done
  // Writes a checkpoint (checkpoint.h), to which each stage's owner writes its own part: no rank
  // holds another's. `texts` go beside it. BadInput for a state that is not finite,
  // BrokenEnvironment for what the system refuses, naming the rank; the folder is as it was then,
  // and the trainer may be used on.
  void Save(const std::string& folder, const std::map<std::string, std::string>& texts = {});
  // BrokenEnvironment, naming rank and host, unless all ranks can write the folder, and see there
  // what the others write.
  void RequireSharedFolder(const std::string& folder);

  // Copies of what this process' ranks own: over threads the whole state. All processes call it
  // together.
  TrainState State() const;
  // Takes up where `state` stopped; each rank reads its own part. BadInput naming what is missing,
  // unknown or of another shape.
  void SetState(const StateSource& state);
  void SetState(const TrainState& state) { SetState(SourceOf(state)); }
  // Sets parameters and buffers alone.
  void SetWeights(const std::vector<NamedTensor>& weights);

  // Of all ranks; in a process without rank 0: of its first rank alone.
  const TrainTotals& totals() const;
  const WorldLayout& layout() const;
  const Schedule& schedule() const;
  const Cuts& cuts() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torus::parallel
