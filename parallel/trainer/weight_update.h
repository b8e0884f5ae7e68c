// WeightUpdate: what a rank does from its gradients to its next weights. Trainer's own part.
//
// Gradients are summed over the replicas, then over the uses of tied weights; all ranks agree
// whether the step is finite; the norm is clipped; the optimizer takes its step.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "parallel/data_parallel/data_parallel.h"
#include "parallel/trainer/rank_model.h"
#include "parallel/trainer/step_agreement.h"
#include "parallel/trainer/tied_gradients.h"
#include "parallel/trainer/trainer_options.h"
#include "parallel/trainer/weight_average.h"
#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

class WeightUpdate {
 public:
  // What a rank talks through. All must outlive the update, as must the constructor's references.
  struct Links {
    Transport& pipeline;  // between the ranks of its replica
    Transport& replicas;  // between the replicas of its stages
    StepAgreement& agreement;
  };
  WeightUpdate(const Links& links, const RankPlace& place, const RankModel& model,
               const std::vector<int>& stage_owners, const TrainerOptions& options,
               const TrainingParts& parts);

  // What of a step shows whether it may be taken.
  struct Result {
    bool finite = true;  // loss and tensors that crossed a cut
    double loss = 0;     // of the replica, where this rank has the last stage
  };
  // The action kReduce of a stage. With the last one of the rank the step is settled.
  void Reduce(int stage, int64_t step, const Result& result);
  // The action kStep; whether the step was taken.
  bool Step(int stage, double learning_rate);

  // Copy replica 0's parameters and buffers, or the buffers alone, to all replicas, bit for bit.
  void BroadcastState();
  void BroadcastBuffers();
  // Exchanges weights and averages, where the run keeps any.
  void SwapAverages();

  Optimizer& optimizer(int stage) const { return *work_.at(stage).optimizer; }
  // Null without averages.
  WeightAverage* average(int stage) const { return work_.at(stage).average.get(); }

 private:
  struct StageWork {
    std::unique_ptr<DataParallel> replicas;  // null with one replica
    std::unique_ptr<Optimizer> optimizer;
    std::unique_ptr<WeightAverage> average;  // null without
    std::vector<NamedVariable> parameters;   // each once
  };
  void FinishGradients(int64_t step, const Result& result);
  bool GradientsAreFinite(const std::vector<double>& squares) const;

  const Links links_;
  const RankPlace& place_;
  const RankModel& model_;
  const TrainerOptions& options_;
  std::map<int, StageWork> work_;
  TiedGradients tied_;
  double gradient_scale_ = 1;  // of the step that runs
  size_t reduced_ = 0;         // stages of this rank
};

}  // namespace torus::parallel
