// What an application is told of a run's steps, and how it ends one.
#pragma once

#include <cstdint>
#include <functional>

#include "runtime/error.h"

namespace torus::parallel {

// A finished step, as `on_step` is told of it.
struct StepReport {
  int64_t step = 0;      // its number, from 0
  double loss = 0;       // mean over the global mini-batch
  int64_t samples = 0;   // in the global mini-batch
  bool skipped = false;  // loss or gradients were not finite, and nothing was changed
  double learning_rate = 0;
  double seconds = 0;  // since the step before ended on rank 0 (the first: since Train began)
};

// max_skipped steps in a row were not finite.
class TooManySkipped : public BadInput {
 public:
  using BadInput::BadInput;
};

// Called on rank 0 alone, on its thread. What rank 0 decides about a step travels with the
// agreement of the step before it, so `stop` and `trace` are asked about a step while the one
// before it is being finished, on_step of which is called after that.
struct TrainHooks {
  std::function<bool()> stop;                      // asked before each step; ends the call
  std::function<bool(int64_t step)> trace;         // whether to record the step's events
  std::function<void(const StepReport&)> on_step;  // in order
};

struct EvaluationResult {
  double loss = 0;  // mean over the samples
  int64_t samples = 0;
  int64_t correct = 0;   // 0 without TrainingParts::correct
  bool finished = true;  // false: stopped; the figures are of no use then
};

}  // namespace torus::parallel
