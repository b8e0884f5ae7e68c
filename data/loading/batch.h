// Batch: the tensors of one micro-batch.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/loading/micro_batch.h"
#include "runtime/tensor.h"

namespace torus::data {

struct Batch {
  std::vector<Tensor> inputs = {};  // for the first stage; images are f32 (n, H, W, C), normalised
  // For the loss; classes are i64 (n), of mixed images f32 (n, classes): shares.
  Tensor target = {};
  // Rows' positions in the global mini-batch (StepContext::samples).
  std::vector<int64_t> samples = {};
  // If set, converts `inputs` to the model's inputs, after they have been copied to the device. If
  // empty, `inputs` are already the model's inputs.
  std::function<void(std::vector<Tensor>& inputs)> prepare = {};
};

// Makes a batch. Many threads call it at once, so it must be thread-safe. It must return the same
// bits for the same micro-batch.
using MakeBatch = std::function<Batch(const MicroBatch&)>;

}  // namespace torus::data
