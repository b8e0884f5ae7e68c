// RingTraining: a run in which a student's ring sums the gradients, and the same run with the
// trainer's own ring.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recipes/run/run.h"
#include "tools/labs/train_with/ring_library.h"
#include "tools/labs/train_with/ring_wire.h"
#include "tools/labs/train_with/weight_difference.h"

namespace torus::tools::labs {

struct RingTraining {
  std::string ring, own;  // folders of the runs
  std::vector<RingCounts> counts;
  std::string wrong_sum;  // the wrong sum that SumCheck found; empty: none
  // Not empty if the run with the ring ended early because its steps became non-finite.
  std::string gave_up;
  int64_t steps = 0;  // of the run with the ring
  WeightDifference difference;
  // From a third run, which adds in another order. It is made if all sums are right but the weights
  // differ.
  std::optional<WeightDifference> other_order;
};

// Throws BadInput, naming the flag, for a run in which a student's ring cannot sum. It sums f32
// gradients of replicas of the whole model, on a CPU, as threads of this process.
void RequireRun(const recipes::RunOptions& options);

// Trains into OUT/ring, OUT/own and OUT/other_order, where OUT is `options.out`. `options` come
// from CheckedOptions and pass RequireRun; `ring` has as many ranks as they have replicas.
// `callbacks` makes the callbacks of each run, which `what` names. Returns none if `stop` ended one
// of the runs. Throws the errors of RingWire if the ring throws or waits without end.
std::optional<RingTraining> TrainWithRing(
    const recipes::RunOptions& options, const RingLibrary& ring,
    const std::function<recipes::RunCallbacks(const std::string& what)>& callbacks);

}  // namespace torus::tools::labs
