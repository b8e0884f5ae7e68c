// StepGraph: what a rank computes in a step, all forwards and backwards, recorded once and then
// launched as one graph (runtime/graph.h): a GPU is then given one thing to do where it was given a
// thousand. For a rank that runs the whole pipeline. What it sums with other replicas is not in it
// and comes behind it, so each replica's graph is its own affair.
//
// Its steps are of fixed shapes: two steps are alike where StepKey says so. The first of them is
// computed as ever, which loads libraries and finds plans; the second is recorded, and launched;
// all that are alike follow by a launch. Others in between (the last, smaller batch of an epoch)
// are computed as ever. All of them give the same bits. The recorded step keeps the memory of its
// activations; where another one fails for want of it, that is given up, and the next two steps
// that are alike make it anew.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/pipeline/mini_batch.h"
#include "parallel/pipeline/stage_runner.h"
#include "runtime/graph.h"
#include "runtime/later_checks.h"

namespace torus::parallel {

// Everything that the recorded work has in it as a number or an address: shapes and types of the
// batch, its samples, seed and factors of the loss, and where the stages' weights lie.
using StepKey = std::vector<uint64_t>;

class StepGraph {
 public:
  using Compute = std::function<void(const MiniBatch& batch)>;

  // `stages`, this rank's, and `checks`, of the GPU, must outlive it. `required`: what prevents a
  // recording is an error; else steps are computed as ever from then on.
  StepGraph(Device gpu, std::vector<StageRunner*> stages, LaterChecks& checks, bool required);

  // Brings the stages to where compute(batch) brings them: losses, gradients, which must be
  // undefined before, and statistics of batch norm. Recorded, `compute` is given the batch in
  // memory of the graph's own.
  void Run(const MiniBatch& batch, const Compute& compute);

  // Whether the step that was run last is as it should be. A launched one is not where a number
  // that the model reads from the GPU's memory was not what it was in the recorded step: then the
  // stages are as before Run, and the step, like all behind it, is to be computed as ever. Waits
  // for the GPU where the model reads such numbers.
  bool Held();

  // Whether it was a launch, that held so far. Such steps have their gradients in the same memory,
  // until another one is recorded.
  bool was_launched() const { return was_launched_; }
  // Steps that were a launch; the recorded one counts.
  int64_t launched() const { return launched_; }
  // What has prevented a recording; empty: nothing.
  const std::string& why_not() const { return why_not_; }

 private:
  // What the host has at the end of the computing, beside the memory of the GPU.
  struct OfStage {
    LossTerms losses;
    std::vector<Tensor> gradients;  // as Stage::Parameters
    std::vector<KeptStatistics> statistics;
  };
  struct Recorded {
    explicit Recorded(Device gpu) : graph(gpu) {}
    StepKey key;
    MiniBatch batch;
    std::vector<OfStage> stages;
    std::vector<LaterChecks::Check> checks;
    Graph graph;
  };
  StepKey KeyOf(const MiniBatch& batch) const;
  bool ComputeAsEver(const MiniBatch& batch, const Compute& compute);
  bool TryRecord(const MiniBatch& batch, const Compute& compute);
  void Record(const MiniBatch& batch, const Compute& compute, Recorded& to);
  void Forget();
  void Launch(const MiniBatch& batch);

  const Device gpu_;
  const std::vector<StageRunner*> stages_;
  LaterChecks& checks_;
  const bool required_;
  StepKey before_;                // of the step before
  std::vector<int64_t> numbers_;  // that the model read in it
  bool was_launched_ = false;     // the last step
  std::unique_ptr<Recorded> recorded_;
  int64_t launched_ = 0;
  std::string why_not_;
};

}  // namespace torus::parallel
