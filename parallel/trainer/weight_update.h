// WeightUpdate: what a rank does from its gradients to its next weights. Trainer's own part.
//
// Gradients are summed over the replicas, then over the uses of tied weights; all ranks agree
// whether the step is finite; the norm is clipped; the optimizer takes its step; the replicas give
// each other the weights. What is summed where, and who steps what, a ReplicaStrategy says. Where a
// launched graph has made the gradients, norms or finite check, and each optimizer's step, are
// launches too (update_graph.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
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
  // What a rank talks through. All must outlive the update, as must the constructor's references.
  struct Links {
    Transport& pipeline;  // between the ranks of its replica
    Transport& replicas;  // between the replicas of its stages
    Transport& tensor;    // between the ranks that have slices of its stages
    StepAgreement& agreement;
  };
  WeightUpdate(const Links& links, const RankPlace& place, const RankModel& model,
               const std::vector<int>& stage_owners, const TrainerOptions& options,
               const TrainingParts& parts);

  // What is known of a step's gradients.
  struct Gradients {
    double share = 1;   // of the replica's samples in the global mini-batch's
    bool stay = false;  // a launched graph has made them (Executor::launched), and no replicas sum
  };
  // What of a step shows whether it may be taken.
  struct Result {
    bool finite = true;     // loss and tensors that crossed a cut
    double loss = 0;        // of the replica, where this rank has the last stage
    double loss_scale = 1;  // of the gradients
  };
  // Asked once a step, behind all sums: it waits for the device.
  using ResultFn = std::function<Result()>;
  // Around a step: its number and LossScale; whether it was taken.
  void BeginStep(int64_t step, double loss_scale);
  void EndStep(bool taken);
  // Bytes not sent to each replica so far that sums without a codec would have sent.
  std::vector<int64_t> SavedBytes() const;
  // Before the last backward of a stage, and now and then: sums over replicas that overlap it.
  void BeginLastBackward(int stage, int64_t step);
  void Advance();
  // A stage has the gradients of one more micro-batch: called where options.reproducible.
  void Accumulated(int stage, int micro_batch);
  // The action kReduce of a stage. With the last one of the rank the step is settled.
  void Reduce(int stage, int64_t step, const Gradients& gradients, const ResultFn& result);
  // The actions kGather and kFree.
  void GatherWeights(int stage, int64_t step);
  void FreeWeights(int stage);
  // The action kStep; whether the step was taken.
  bool Step(int stage, int64_t step, double learning_rate);

  // Copy replica 0's parameters and buffers, or the buffers alone, to all replicas, bit for bit.
  void BroadcastState();
  void BroadcastBuffers();
  // Exchanges weights and averages, where the run keeps any.
  void SwapAverages();
  // How far this replica's part of the weights is from replica 0's; 0 of a strategy whose replicas
  // agree. All replicas call it together.
  SquaredDrift Drift() const;

  // Most bytes of weights (gathered ones too), gradients and optimizer state that the rank has had
  // at once, as they were at the actions of its stages.
  uint64_t peak_bytes() const { return peak_bytes_; }

  // Steps whose norms or finite check, and updates of a stage's weights, that were the launch of a
  // graph; and what has prevented one (empty: nothing).
  int64_t launched_checks() const { return check_graph_.launched(); }
  int64_t launched_updates() const;
  std::string why_no_graph() const;

  // What the rank's stages hold, by number.
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
  std::set<std::string> stepped_;  // by some stage, where the uses of a tied weight have one share
  const std::map<int, StageWork> work_;
  std::map<int, GradientTree> trees_;  // of each stage; used where options.reproducible
  TiedGradients tied_;
  UpdateGraph check_graph_;                  // norms or finite check, of all stages
  std::map<int, UpdateGraph> step_graphs_;   // of each stage's optimizer
  bool stay_ = false;                        // Gradients::stay of the step that runs
  double gradient_scale_ = 1;                // of that step
  size_t reduced_ = 0;                       // stages of this rank
  std::map<int, uint64_t> optimizer_bytes_;  // of each stage's state
  uint64_t peak_bytes_ = 0;
};

}  // namespace torus::parallel
