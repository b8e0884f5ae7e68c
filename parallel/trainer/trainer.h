// Trainer: the training loop that an application embeds. It trains `replicas` copies of a pipeline
// of `stages`, with a RankTrainer for every rank of this process, over a World: threads of this
// process, unless the application passes another.
//
//   Trainer trainer({.stages = 2, .micro_batches = 4}, parts);
//   trainer.Train(1000, batches);
//   trainer.Save("checkpoint");
//
// A step: every replica computes its micro-batches through its pipeline, the replicas of a stage
// sum their gradients, every stage takes the optimizer's step, and batch norm commits its running
// statistics. The same seed and micro-batches give the same bits wherever the model is cut (with
// equal threads per rank and no codec), and a run that continues from a State gives the same bits
// as one that never stopped.
//
// If the loss, gradients or tensors sent through a codec hold an infinity or NaN on any rank, all
// ranks skip the step: weights, optimizer state, averages and running statistics stay as they were,
// and the step counts as done.
//
// Evaluation runs through the same pipeline, including codecs, because that is what was trained.
// With TrainerOptions::ema_decay the averaged weights are evaluated.
//
// The first error on any rank stops all ranks, each at the end of its current op, and is thrown on
// the caller's thread, naming rank, stage, step and what was being done or waited for. All threads
// have ended by then, and only the trainer's totals may still be used. The exception is StuckRank
// (run_ranks.h): a thread that does not come back is left behind, with the trainer's state, which
// it keeps; a World that was passed, and what the options, parts, batches and hooks refer to, must
// then stay valid for it. Totals are those of before the call.
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
// same order. Hooks and `stop` are called in the process of rank 0, `batches` for the ranks of the
// process.
class Trainer {
 public:
  // Makes the stages, agrees on shapes and makes the replicas equal. Throws BadInput if the options
  // do not fit the model.
  Trainer(TrainerOptions options, TrainingParts parts);
  // The same over `world`, which must outlive the trainer. Throws BadInput unless it has as many
  // ranks as the options need. Its deadlines replace TrainerOptions::timeout and grace.
  Trainer(World& world, TrainerOptions options, TrainingParts parts);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Runs steps until step() == end, the stop hook returns true, or a stop is requested of the
  // hooks' token, from any thread. What `batches` refers to must stay valid meanwhile. Throws
  // TooManySkipped after max_skipped skipped steps in a row. The trainer may still be used then;
  // State() is as before these steps.
  void Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks = {});
  // Runs forwards only, with gradients off, over `count` mini-batches (steps 0 .. count - 1 of
  // `batches`). `stop` is asked before each of them; true ends the call.
  EvaluationResult Evaluate(int64_t count, const BatchFn& batches,
                            const std::function<bool()>& stop = {});

  int64_t step() const;  // mini-batches done
  // Writes a checkpoint (checkpoint.h) and the files `texts` in it. Each stage's owner writes its
  // own part: no rank holds another's. Throws BadInput if the state is not finite, and
  // BrokenEnvironment, naming the rank, if the system refuses. The folder is then as before, and
  // the trainer may still be used.
  void Save(const std::string& folder, const std::map<std::string, std::string>& texts = {});
  // Throws BrokenEnvironment, naming rank and host, unless all ranks can write the folder and see
  // there what the others write.
  void RequireSharedFolder(const std::string& folder);

  // Copies the state that this process's ranks own; with ranks as threads, the whole state. All
  // processes call it together.
  TrainState State() const;
  // Continues from `state`; each rank reads its own part. Throws BadInput naming what is missing,
  // unknown or of another shape.
  void SetState(const StateSource& state);
  void SetState(const TrainState& state) { SetState(SourceOf(state)); }
  // Sets parameters and buffers only.
  void SetWeights(const std::vector<NamedTensor>& weights);

  // The totals of all ranks; in a process without rank 0 only those of its first rank.
  const TrainTotals& totals() const;
  const WorldLayout& layout() const;  // which rank is what
  const Schedule& schedule() const;   // of a replica's mini-batch
  const Cuts& cuts() const;           // where the model was cut

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace torus::parallel
