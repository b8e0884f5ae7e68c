// What a training step works on, and what it comes to.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace torus::parallel {

// The part of a mini-batch that this replica works on at one time.
struct MicroBatch {
  std::vector<Tensor> inputs;    // needed where stage 0 runs
  std::vector<Tensor> targets;   // needed where the last stage runs
  std::vector<int64_t> samples;  // position of each row in the global mini-batch; on every rank;
                                 // empty: nothing to do
};

// One step's work of this replica. Every rank of the pipeline gets the same, but for inputs and
// targets.
struct MiniBatch {
  uint64_t seed = 0;
  int64_t step = 0;
  int64_t global_samples = 0;  // over all replicas: a micro-batch weighs samples / global_samples
  // As many as the schedule has, or a multiple of that: then the schedule runs so many times before
  // the step, and the gradients of all of them are accumulated. The last ones may be empty.
  std::vector<MicroBatch> micro_batches;
};

struct StepResult {
  // Sum over this replica's micro-batches of weight x loss, so that the replicas' results add up to
  // the mean loss of the global mini-batch. 0 on a rank that does not run the last stage.
  double loss = 0;
};

}  // namespace torus::parallel
