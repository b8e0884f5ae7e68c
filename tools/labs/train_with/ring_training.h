// RingTraining: a run whose gradients a student's ring sums, and the same run with the trainer's
// own ring.
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
  std::string wrong_sum;  // what SumCheck found; empty: nothing
  // Why the run with the ring ended early: its steps were not finite any more. Empty otherwise.
  std::string gave_up;
  int64_t steps = 0;  // of the run with the ring
  WeightDifference difference;
  // Of a third run, which adds in another order: made where right sums come to other weights.
  std::optional<WeightDifference> other_order;
};

// BadInput, naming the flag, for a run that a ring cannot be in: it sums the f32 gradients of
// replicas of the whole model, which are threads of this process on a CPU.
void RequireRun(const recipes::RunOptions& options);

// Into OUT/ring, OUT/own and OUT/other_order, where OUT is `options.out`. `options` are as
// CheckedOptions gives them and pass RequireRun; `ring` is of as many ranks as they have replicas.
// `callbacks` makes those of each run, which `what` names. None where `stop` ended one of them.
// What the ring throws, and waits without an end, end the run: the errors of RingWire.
std::optional<RingTraining> TrainWithRing(
    const recipes::RunOptions& options, const RingLibrary& ring,
    const std::function<recipes::RunCallbacks(const std::string& what)>& callbacks);

}  // namespace torus::tools::labs
