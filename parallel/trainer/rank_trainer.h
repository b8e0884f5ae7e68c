// RankTrainer: what one rank of a run does. Every rank runs the same calls in the same order
// (SPMD), and ranks share nothing but a transport: it may lie between threads or between processes.
//
//   RankTrainer trainer(transport, {.stages = 2, .micro_batches = 4}, parts);
//   trainer.Prepare();
//   trainer.Train(1000, batches);
//   if (auto failure = trainer.Save("checkpoint")) std::rethrow_exception(failure);
//
// Trainer (trainer.h) says what a step is and does the same for all ranks of a process. An
// exception on one rank must abort the world (World::Run does), or the others find it by deadline.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/pipeline/executor.h"
#include "parallel/trainer/control.h"
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
#include "parallel/transport/group.h"

namespace torus::parallel {

class RankTrainer {
 public:
  // Makes the rank's own stages; no message is sent yet. `world` must outlive it. BadInput for
  // options that do not fit the model or the world.
  RankTrainer(Transport& world, TrainerOptions options, TrainingParts parts);
  RankTrainer(const RankTrainer&) = delete;
  RankTrainer& operator=(const RankTrainer&) = delete;

  // All ranks call each of the following, up to OwnTensors, together, each on its own thread.

  // Once, before all others. The ranks compare what they must have in common (run_facts.h:
  // BadInput, on all of them, that names what differs and the ranks), agree on shapes, and make the
  // replicas equal.
  void Prepare();
  // As Trainer::Train. `hooks` are rank 0's, ignored on other ranks. TooManySkipped on every rank,
  // when all have ended in order.
  void Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks = {});
  // As Trainer::Evaluate, with the whole result on every rank. Rank 0's `stop` decides.
  EvaluationResult Evaluate(int64_t count, const BatchFn& batches,
                            const std::function<bool()>& stop = {});
  // Writes a checkpoint (checkpoint.h) to which every stage's owner in replica 0 writes its own
  // part; `texts` are those of rank 0. Null when it is committed; otherwise the old one is whole,
  // and the error is the same on all ranks and names the first that failed, but the world goes on.
  [[nodiscard]] std::exception_ptr Save(const std::string& folder,
                                        const std::map<std::string, std::string>& texts = {});
  // Whether all ranks can write a folder, and see there what the others write: null, or the error.
  [[nodiscard]] std::exception_ptr CheckSharedFolder(const std::string& folder);

  // This rank's part of the state, by stage: what its stages own, without copies where it has all
  // of it. The parts of replica 0's first tensor-parallel ranks are the whole state but for what
  // the codecs of the others remember; what else these return is of no use.
  std::map<int, StageTensors> OwnTensors();

  // Take the whole state, on every rank alike, and keep the rank's part, which alone is read. As
  // Trainer's.
  void SetState(const StateSource& state);
  void SetWeights(const TensorSource& weights);

  int64_t step() const { return step_; }
  LossScaleState loss_scale() const {
    return loss_scale_ ? loss_scale_->state() : LossScaleState();
  }
  // On rank 0 of all ranks, as gathered at the end of each Train; elsewhere of this rank alone.
  const TrainTotals& totals() const { return totals_; }
  const RankPlace& place() const { return place_; }
  const WorldLayout& layout() const { return layout_; }
  // Where weights are gathered block by block, that of the blocks, as the cuts.
  const Schedule& schedule() const { return schedule_; }
  const Cuts& cuts() const { return model_.cuts; }

 private:
  // What a rank saw of an evaluation.
  struct Score {
    std::vector<double> losses;  // of its replica, by batch; 0 without the last stage
    int64_t correct = 0;
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
  int AgreeOnTeam();
  void UseOwnThreads() const;
  Engine* MakeTensorEngine();
  bool OwnsState() const { return place_.replica == 0 && place_.tensor.rank == 0; }
  int PartOfOthers(int stage) const;
  std::string CodecPrefix() const;
  // What codecs of the stage's links and of its gradients remember.
  std::vector<NamedTensor> CodecsOf(int stage, const ReplicaStrategy& replicas) const;
  void SetCodecs(const TensorSource& codecs);

  TrainerOptions options_;
  const TrainingParts parts_;
  const Schedule schedule_;
  const WorldLayout layout_;
  const std::unique_ptr<Transport> wrapped_;  // null without TrainerOptions::wrap_transport
  Transport& world_;
  const RankPlace place_;
  Group pipeline_, replicas_, tensor_;
  Engine* tensor_engine_ = nullptr;  // that sums the tensors of tensor_ where they lie; or none
  Control control_, replica_control_;
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
  double share_ = 1;       // of the replica in the samples of the step that runs
  int micro_batches_ = 0;  // of this replica, in the step that runs
  double step_ended_ = 0;  // seconds of the steady clock
  bool scoring_ = false;
  Score score_;
  double data_wait_ = 0, wall_ = 0;
  TrainTotals totals_;
};

}  // namespace torus::parallel
