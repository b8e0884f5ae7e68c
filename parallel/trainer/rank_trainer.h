// RankTrainer: trains on one rank of a run. Every rank makes the same calls in the same order
// (SPMD). Ranks share only a transport, which may connect threads or processes.
//
//   RankTrainer trainer(transport, {.stages = 2, .micro_batches = 4}, parts);
//   trainer.Prepare();
//   trainer.Train(1000, batches);
//   if (auto failure = trainer.Save("checkpoint")) std::rethrow_exception(failure);
//
// Trainer (trainer.h) defines a step and runs all ranks of a process. An exception on one rank must
// abort the world (World::Run does that); otherwise the others fail only at their deadline.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/pipeline/executor.h"
#include "parallel/trainer/rank_counts.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/step_agreement.h"
#include "parallel/trainer/step_feed.h"
#include "parallel/trainer/train_hooks.h"
#include "parallel/trainer/train_state.h"
#include "parallel/trainer/train_totals.h"
#include "parallel/trainer/trainer_options.h"
#include "parallel/trainer/weight_update.h"
#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

class RankTrainer {
 public:
  // Makes the rank's own stages; sends no message yet. `world` must outlive it. Throws BadInput if
  // the options do not fit the model or the world.
  RankTrainer(Transport& world, TrainerOptions options, TrainingParts parts);
  RankTrainer(const RankTrainer&) = delete;
  RankTrainer& operator=(const RankTrainer&) = delete;

  // All ranks call each of the functions from here to OwnTensors together, each on its own thread.

  // Call once, before all others. The ranks compare what must be equal on all of them (run_facts.h;
  // throws BadInput on every rank, naming what differs and the ranks), agree on shapes, and make
  // the replicas equal.
  void Prepare();
  // As Trainer::Train. Only rank 0's `hooks` are used. TooManySkipped is thrown on every rank, with
  // no message left under way.
  void Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks = {});
  // As Trainer::Evaluate; every rank returns the whole result. Only rank 0's `stop` is asked.
  EvaluationResult Evaluate(int64_t count, const BatchFn& batches,
                            const std::function<bool()>& stop = {});
  // Writes a checkpoint (checkpoint.h): the owner of each stage in replica 0 writes its part, other
  // ranks only the state of their codecs; `texts` are those of rank 0. Returns null if it was
  // committed. Otherwise the old checkpoint is intact, all ranks return the same error, which names
  // the first rank that failed, and the run can go on.
  [[nodiscard]] std::exception_ptr Save(const std::string& folder,
                                        const std::map<std::string, std::string>& texts = {});
  // Checks that all ranks can write a folder and see there what the others write. Returns null or
  // the error.
  [[nodiscard]] std::exception_ptr CheckSharedFolder(const std::string& folder);

  // This rank's part of the state, by stage; not copied where the rank holds whole tensors. The
  // parts of the first tensor-parallel ranks of replica 0 are together the whole state, except for
  // the codec state of the other ranks; nothing else that those return is to be used.
  std::map<int, StageTensors> OwnTensors();

  // As Trainer's. Every rank passes the same whole state; only the rank's own part is read and
  // kept.
  void SetState(const StateSource& state);
  void SetWeights(const TensorSource& weights);

  int64_t step() const { return step_; }
  LossScaleState loss_scale() const {
    return loss_scale_ ? loss_scale_->state() : LossScaleState();
  }
  // On rank 0: the totals of all ranks, gathered at the end of each Train. On others: those of this
  // rank only.
  const TrainTotals& totals() const { return totals_; }
  const RankPlace& place() const { return place_; }
  const WorldLayout& layout() const { return layout_; }
  // If weights are gathered block by block, the schedule and the cuts count each block as a stage.
  const Schedule& schedule() const { return schedule_; }
  const Cuts& cuts() const { return model_.cuts; }

 private:
  // What a rank has found in an evaluation.
  struct Score {
    std::vector<double> losses;  // of its replica, by batch; 0 without the last stage
    int64_t correct = 0, left_out = 0;
  };
  ExecutorOptions MakeExecutorOptions();
  void CheckSmallest();
  void RunSteps(int64_t end, const BatchFn& batches, const TrainHooks& hooks);
  MiniBatch BeginStep();
  void CheckList() const;
  bool SyncsBatchNorm() const;
  double LossScaleValue() const { return loss_scale_ ? loss_scale_->value() : 1; }
  void CheckSamples(const MiniBatch& batch);
  void EndStep(const MiniBatch& batch, const TrainHooks& hooks);
  void CheckSkipped();
  MiniBatch Fetch(const BatchFn& batches, int64_t step);
  Variable Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets,
                const StepContext& context);
  void SumScores(const std::vector<int64_t>& samples, EvaluationResult& result);
  bool Step(int stage, int64_t step);
  RankCounts Counts() const;
  void AddTotals(const RankCounts& segment);
  std::vector<StageState> OwnStages() const;
  [[noreturn]] void RethrowWithReplica() const;  // the exception being handled
  bool HasCoreToSpare() const;
  double WorkOf(int rank) const;  // static cost of its stages
  int AgreeOnTeam();
  void Connect();
  void UseOwnThreads() const;
  std::shared_ptr<void> ThreadScope() const;
  bool OwnsState() const { return place_.replica == 0 && place_.tensor.rank == 0; }
  int PartOfOthers(int stage) const;
  std::string CodecPrefix() const;
  // The state of the codecs of the stage's links and gradients.
  std::vector<NamedTensor> CodecsOf(int stage, const ReplicaStrategy& replicas) const;
  void SetCodecs(const TensorSource& codecs);

  TrainerOptions options_;
  const TrainingParts parts_;
  const Schedule schedule_;
  const WorldLayout layout_;
  const std::unique_ptr<Transport> wrapped_;  // null without TrainerOptions::wrap_transport
  Communicator world_;
  const RankPlace place_;
  Communicator pipeline_, replicas_, tensor_;
  StepAgreement agreement_;
  const Device device_;
  std::optional<LossScale> loss_scale_;
  StepFeed feed_;
  RankModel model_;
  WeightUpdate update_;
  std::string codec_ = "none";
  std::unique_ptr<Executor> executor_;
  int team_ = 1;  // threads of the rank
  int64_t step_ = 0;
  int skipped_ = 0;  // steps in a row
  double learning_rate_ = 0;
  double share_ = 1;       // of the replica in the samples of the current step
  int micro_batches_ = 0;  // of this replica, in the current step
  double step_ended_ = 0;  // seconds of the steady clock
  bool scoring_ = false;
  Score score_;
  double data_wait_ = 0, wall_ = 0;
  TrainTotals totals_;
};

}  // namespace torus::parallel
