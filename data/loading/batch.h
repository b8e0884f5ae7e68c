// Batch: the tensors of one micro-batch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/loading/micro_batch.h"
#include "runtime/tensor.h"

namespace torus::data {

struct Batch {
  std::vector<Tensor> inputs;    // for the first stage; of images f32 (n, H, W, C), normalised
  Tensor target;                 // for the loss; of classes i64 (n)
  std::vector<int64_t> samples;  // row's position in the global mini-batch (StepContext::samples)
  // Makes the model's inputs of `inputs`, on the device to which these have been copied; empty:
  // they are the model's.
  std::function<void(std::vector<Tensor>& inputs)> prepare = {};
};

// Makes a batch; called by many threads at once, so it must be thread-safe. The same micro-batch
// gives the same bits.
using MakeBatch = std::function<Batch(const MicroBatch&)>;

}  // namespace torus::data
