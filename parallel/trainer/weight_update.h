// WeightUpdate: takes a rank from the gradients of a step to the next weights. Internal to the
// trainer.
//
// It sums gradients over the replicas, then over the uses of tied weights; all ranks agree whether
// the step is finite; it clips by the norm, takes the optimizer's step, and the replicas exchange
// the weights. A ReplicaStrategy decides what is summed where and which replica updates what. If
// the gradients come from a launched graph, the norms or finite check, and each optimizer's step,
// are launches too (update_graph.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "parallel/data_parallel/strategy_factory.h"
#include "parallel/data_parallel/unsynchronized.h"
#include "parallel/trainer/gradient_tree.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/trainer/step_agreement.h"
#include "parallel/trainer/tied_gradients.h"
#include "parallel/trainer/trainer_options.h"
#include "parallel/trainer/update_graph.h"
#include "parallel/trainer/weight_average.h"
#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

class WeightUpdate {
 public:
  // The communicators of a rank and its agreement. All must outlive the update, as must the
  // constructor's references.
  struct Links {
    Communicator& pipeline;  // between the ranks of its replica
    Communicator& replicas;  // between the replicas of its stages
    Communicator& tensor;    // between the tensor-parallel ranks of its stages
    StepAgreement& agreement;
  };
  WeightUpdate(const Links& links, const RankPlace& place, const RankModel& model,
               const std::vector<int>& stage_owners, const TrainerOptions& options,
               const TrainingParts& parts);

  // What is known of a step's gradients.
  struct Gradients {
    double share = 1;       // the replica's share of the global mini-batch's samples
    bool launched = false;  // by a graph (Executor::launched)
  };
  // What decides whether a step may be taken.
  struct Result {
    bool finite = true;     // of the loss and the tensors that crossed a cut
    double loss = 0;        // of the replica, if this rank runs the last stage
    double loss_scale = 1;  // of the gradients
  };
  // Called once per step, after all sums, because it waits for the device.
  using ResultFn = std::function<Result()>;
  // Call before and after a step, with its number and loss scale, and whether it was taken.
  void BeginStep(int64_t step, double loss_scale);
  void EndStep(bool taken);
  // For each replica, the bytes so far that a codec has saved in what this rank sends it.
  std::vector<int64_t> SavedBytes() const;
  // Sums over replicas that overlap the backward: BeginLastBackward is called before the last
  // backward of a stage, Advance now and then.
  void BeginLastBackward(int stage, int64_t step);
  void Advance();
  // Called if options.reproducible when a stage has the gradients of one more micro-batch.
  void Accumulated(int stage, int micro_batch);
  // The action kReduce of a stage. The rank's last one in a step also settles the step.
  void Reduce(int stage, int64_t step, const Gradients& gradients, const ResultFn& result);
  // The actions kGather and kFree.
  void GatherWeights(int stage, int64_t step);
  void FreeWeights(int stage);
  // The action kStep. Returns whether the step was taken.
  bool Step(int stage, int64_t step, double learning_rate);

  // Of the step that was settled last; none unless options ask for it (StepReport).
  std::optional<double> gradient_norm() const { return gradient_norm_; }

  // Copy replica 0's parameters and buffers, or the buffers alone, to all replicas, bit for bit.
  void BroadcastState();
  void BroadcastBuffers();
  // Before and after an evaluation: put the averages, if the run keeps them, and of replicas that
  // are apart the mean, in the place of the weights, and back.
  void EnterEvaluation();
  void LeaveEvaluation();
  // How far this replica's part of the weights is from replica 0's; 0 for strategies that keep the
  // replicas equal. All replicas call it together.
  SquaredDrift Drift() const;

  // The most bytes of weights (including gathered ones), gradients and optimizer state that the
  // rank has had at once, measured at the actions of its stages.
  uint64_t peak_bytes() const { return peak_bytes_; }

  // The number of steps whose norms or finite check were a launch of a graph, of updates of a
  // stage's weights that were one, and what has prevented a graph (empty if nothing has).
  int64_t launched_checks() const { return check_graph_.launched(); }
  int64_t launched_updates() const;
  std::string why_no_graph() const;

  // The state of the rank's stages, by number.
  std::map<int, StageState> States() const;

 private:
  struct StageWork {
    std::unique_ptr<ReplicaStrategy> replicas;
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<WeightAverage> average;  // null without
    std::vector<NamedVariable> parameters;   // held by this rank, each once
    std::vector<std::string> order;          // of the optimizer's state, by parameter
  };
  std::map<int, StageWork> MakeAll(const TrainingParts& parts);
  StageWork MakeWork(int number, const Stage& stage, const ShardPlan& plan,
                     const TrainingParts& parts);
  std::map<int, std::vector<NamedVariable>> Held() const;
  void SwapAverages();
  bool NeedsNorm() const { return options_.clip_norm > 0 || options_.gradient_norm; }
  void NotePeak();
  std::vector<double> NormsOfUses(int64_t step, const std::string& what);
  std::vector<double> SquaredNorms(int64_t step, const std::string& what);
  bool GradientsAreFinite(int64_t step, const std::vector<double>& squares);
  void FinishGradients(int64_t step, const ResultFn& result);
  void StepOptimizer(int stage, int64_t step, double learning_rate);

  const Links links_;
  const RankPlace& place_;
  const RankModel& model_;
  const TrainerOptions& options_;
  RankShards shards_;
  std::set<std::string> stepped_;  // by some stage, if the uses of a tied weight have one shard
  const std::map<int, StageWork> work_;
  std::map<int, GradientTree> trees_;  // of each stage; used if options.reproducible
  TiedGradients tied_;
  UpdateGraph check_graph_;                  // norms or finite check, of all stages
  std::map<int, UpdateGraph> step_graphs_;   // of each stage's optimizer
  bool launched_ = false;                    // Gradients::launched of the current step
  double gradient_scale_ = 1;                // of that step
  std::optional<double> gradient_norm_;      // of that step
  size_t reduced_ = 0;                       // stages of this rank
  std::map<int, uint64_t> optimizer_bytes_;  // of each stage's state
  uint64_t peak_bytes_ = 0;
};

}  // namespace torus::parallel
