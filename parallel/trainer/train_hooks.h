// Hooks by which an application follows a run's steps and ends it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "runtime/error.h"

namespace torus::parallel {

// A finished step, for `on_step`.
struct StepReport {
  int64_t step = 0;          // its number, from 0
  double loss = 0;           // mean over the global mini-batch
  int64_t samples = 0;       // in the global mini-batch
  bool skipped = false;      // loss or gradients were not finite, and nothing was changed
  double learning_rate = 0;  // of the step
  double seconds = 0;        // since the step before ended on rank 0 (the first: since Train began)
  // Of the whole model's gradient, before it was clipped, if options ask for it (clip_norm,
  // gradient_norm); NaN if the step was skipped.
  std::optional<double> gradient_norm;
};

// Thrown if max_skipped steps in a row were not finite.
class TooManySkipped : public BadInput {
 public:
  using BadInput::BadInput;
};

// Called on rank 0 only, on its thread. Rank 0's decision about a step is sent with the agreement
// of the step before it. So `stop` and `trace` are asked about step n + 1 before on_step is called
// for step n.
struct TrainHooks {
  std::function<bool()> stop = {};               // asked before each step; true ends the call
  std::stop_token stop_token = {};               // likewise: a requested stop ends it
  std::function<bool(int64_t step)> trace = {};  // whether to record the step's events
  std::function<void(const StepReport&)> on_step = {};  // in order
};

// What an evaluation found, over all samples that count.
struct EvaluationResult {
  double loss = 0;       // mean over the samples
  int64_t samples = 0;   // those that count (TrainingParts::left_out)
  int64_t correct = 0;   // 0 without TrainingParts::correct
  bool finished = true;  // false: stopped, and the figures are not to be used
};

}  // namespace torus::parallel
