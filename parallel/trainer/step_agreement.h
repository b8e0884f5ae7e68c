// StepAgreement: at every step the ranks of a run tell each other, in one exchange, whether it is
// finite and what its loss is, and rank 0 says whether there is a next one. Trainer's own part.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "parallel/trainer/control.h"
#include "parallel/trainer/world_layout.h"

namespace torus::parallel {

// What rank 0 decides about a step.
struct NextStep {
  enum Trace : int16_t { kAsItIs, kOff, kOn };
  int16_t run = 0;  // 1: it is to be run
  Trace trace = kAsItIs;
};

class StepAgreement {
 public:
  // Asked on rank 0 alone, once for each step, in order.
  using Decide = std::function<NextStep(int64_t step)>;

  // The references must outlive it.
  StepAgreement(Control& control, const WorldLayout& layout) : control_(control), layout_(layout) {}

  // All ranks call these together. Begin: before the first step of a call, `step`.
  void Begin(int64_t step, Decide decide);
  // Within `step`, once all its backwards are done: `finite`, of this rank's loss and gradients;
  // `loss`, of this rank's replica, where it has the last stage. Decides the step behind it too.
  void Settle(int64_t step, bool finite, double loss);

  const NextStep& next() const { return next_; }
  // Of the step that was settled last: not finite on some rank.
  bool skipped() const { return skipped_; }
  // Of that step: the sum over the replicas, in a tree over them, known on every rank.
  double loss() const { return loss_; }
  double waited() const { return waited_; }  // seconds for other ranks, in all Settles so far

 private:
  void Exchange(int64_t next, bool finite, double loss, const std::string& what, double& waited);

  Control& control_;
  const WorldLayout& layout_;
  Decide decide_;
  NextStep next_;
  bool skipped_ = false;
  double loss_ = 0, waited_ = 0;
};

}  // namespace torus::parallel
