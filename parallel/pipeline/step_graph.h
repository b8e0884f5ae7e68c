// StepGraph: all forwards and backwards of a rank's step, recorded once and then launched as one
// CUDA graph (runtime/gpu_graph.h), so that a step takes one launch instead of a thousand. For a
// rank that runs the whole pipeline. Sums over replicas come after the graph and are not part of
// it, so each replica's graph is independent of the others'.
//
// Steps with equal StepKeys are alike. The first of them is computed without a graph, which loads
// libraries and finds plans; the second is recorded and launched; all later ones that are alike are
// launches. Different steps in between (the last, smaller batch of an epoch) are computed without a
// graph. All give the same bits. The recorded step keeps the memory of its activations. If another
// step runs out of memory because of that, the graph is dropped, and the next two steps that are
// alike make a new one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/pipeline/mini_batch.h"
#include "parallel/pipeline/stage_runner.h"
#include "runtime/deferred_checks.h"
#include "runtime/gpu_graph.h"

namespace torus::parallel {

// All numbers and addresses that a recording fixes: shapes and types of the batch, its samples,
// seed and factors of the loss, and the addresses of the stages' parameters and buffers.
using StepKey = std::vector<uint64_t>;

class StepGraph {
 public:
  // Computes all forwards and backwards of a batch.
  using Compute = std::function<void(const MiniBatch& batch)>;

  // `stages`, this rank's, and `checks`, the GPU's, must outlive it. `required`: throws if
  // something prevents a recording; otherwise all later steps are then computed without a graph.
  StepGraph(Device gpu, std::vector<StageRunner*> stages, DeferredChecks& checks, bool required);

  // Has the effect of compute(batch) on the stages: sets losses, gradients (which must be undefined
  // before) and statistics of batch norm. While recording, `compute` gets the batch in memory that
  // belongs to the graph.
  void Run(const MiniBatch& batch, const Compute& compute);

  // Whether the last step is valid. A launched step is not if a number that the model reads from
  // the GPU's memory differs from its value in the recorded step. The stages are then as before
  // Run, and this step and all later ones must be computed without a graph. Waits for the GPU if
  // the model reads such numbers.
  bool Held();

  // Whether the last step was a launch (and was valid as far as known). Launched steps have their
  // gradients at the same addresses until another step is recorded.
  bool was_launched() const { return was_launched_; }
  // The number of launched steps, including the recorded ones.
  int64_t launched() const { return launched_; }
  // What has prevented a recording; empty if nothing has.
  const std::string& why_not() const { return why_not_; }

 private:
  // The host's state of a stage at the end of a step.
  struct OfStage {
    LossTerms losses;
    std::vector<Tensor> gradients;  // as Stage::Parameters
    std::vector<KeptStatistics> statistics;
    std::vector<Tensor> low_copies;  // of parameters, which the graph reads: autograd/low_copy.h
  };
  struct Recorded {
    explicit Recorded(Device gpu) : graph(gpu) {}
    StepKey key;
    MiniBatch batch;
    std::vector<OfStage> stages;
    std::vector<DeferredChecks::Check> checks;
    GpuGraph graph;
  };
  StepKey KeyOf(const MiniBatch& batch) const;
  bool ReadsTheirCopies() const;
  bool ComputeAsEver(const MiniBatch& batch, const Compute& compute);
  bool TryRecord(const MiniBatch& batch, const Compute& compute);
  void Record(const MiniBatch& batch, const Compute& compute, Recorded& to);
  void Forget();
  void Launch(const MiniBatch& batch);

  const Device gpu_;
  const std::vector<StageRunner*> stages_;
  DeferredChecks& checks_;
  const bool required_;
  StepKey before_;                // of the step before
  std::vector<int64_t> numbers_;  // that the model read in it
  bool was_launched_ = false;     // the last step
  std::unique_ptr<Recorded> recorded_;
  int64_t launched_ = 0;
  std::string why_not_;
};

}  // namespace torus::parallel
