// The data of a training step, and its result.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/tensor.h"

namespace torus::parallel {

// One of the parts into which a replica's share of a mini-batch is cut.
struct MicroBatch {
  std::vector<Tensor> inputs = {};   // needed on the rank that runs stage 0
  std::vector<Tensor> targets = {};  // needed on the rank that runs the last stage
  // Position of each row in the global mini-batch, needed on every rank; empty: nothing to do.
  std::vector<int64_t> samples = {};
  // Index of each row in the dataset, the same on every rank, for codecs that keep state for each
  // sample. Empty: not known; such codecs then keep none.
  std::vector<int64_t> examples = {};
  // Turns `inputs` into the model's inputs on the rank's device (for example normalises u8 images).
  // Called once, by the trainer. Empty: `inputs` are the model's inputs.
  std::function<void(std::vector<Tensor>& inputs)> prepare = {};
};

// A replica's share of the mini-batch of one step. All ranks of its pipeline get the same values,
// except for inputs and targets.
struct MiniBatch {
  uint64_t seed = 0;  // of the run
  int64_t step = 0;
  // Samples of all replicas together. A micro-batch's loss has the weight samples / global_samples.
  int64_t global_samples = 0;
  // The gradients are those of the loss times this.
  double loss_scale = 1;
  // As many as the schedule has, or k times as many: then the schedule runs k times, accumulating
  // gradients, before the one optimizer step. The last micro-batches may be empty.
  std::vector<MicroBatch> micro_batches = {};
};

// What a step of a pipeline tells.
struct StepResult {
  // Sum over this replica's micro-batches of weight x loss, so that the replicas' results add up to
  // the mean loss of the global mini-batch. 0 on a rank that does not run the last stage.
  double loss = 0;
};

}  // namespace torus::parallel
