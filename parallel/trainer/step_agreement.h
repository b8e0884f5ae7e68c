// StepAgreement: one exchange per step in which the ranks of a run agree whether the step is
// finite, what its loss is, and whether rank 0 wants a next step. Internal to the trainer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

// Rank 0's decision about a step.
struct NextStep {
  enum Trace : int16_t { kAsItIs, kOff, kOn };
  int16_t run = 0;  // 1: run it
  Trace trace = kAsItIs;
};

class StepAgreement {
 public:
  // Called on rank 0 only, once for each step, in order.
  using Decide = std::function<NextStep(int64_t step)>;

  // The references must outlive it.
  StepAgreement(Communicator& world, const WorldLayout& layout) : world_(world), layout_(layout) {}

  // All ranks call these together. Begin: before `step`, the first step of a Train call.
  void Begin(int64_t step, Decide decide);
  // Settle: within `step`, after all its backwards. `finite`: whether this rank's loss and
  // gradients are. `loss`: of this rank's replica, if the rank runs the last stage. Also exchanges
  // the decision about the step after it.
  void Settle(int64_t step, bool finite, double loss);

  const NextStep& next() const { return next_; }
  // Whether the step that was settled last was not finite on some rank.
  bool skipped() const { return skipped_; }
  // The loss of that step on every rank: the sum over the replicas, in a tree over them.
  double loss() const { return loss_; }
  double waited() const { return waited_; }  // seconds spent waiting, in all Settles so far

 private:
  void Exchange(int64_t next, bool finite, double loss, const std::string& what, double& waited);

  Communicator& world_;
  const WorldLayout& layout_;
  Decide decide_;
  NextStep next_;
  bool skipped_ = false;
  double loss_ = 0, waited_ = 0;
};

}  // namespace torus::parallel
