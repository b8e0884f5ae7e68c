// The state of training: all that it needs to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "parallel/pipeline/tensor_header.h"
#include "parallel/trainer/loss_scale.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Tensors have the model's names, so that a run with other stages or replicas can load them, and
// its layout in memory.
struct TrainState {
  // Mini-batches done. With the sampler's seed it gives the position in the data too.
  int64_t step = 0;
  // Parameters and buffers, in model order; a tied parameter once. Running statistics are those of
  // replica 0 (unless TrainerOptions::reproducible merges those of all): each replica's batch norm
  // sees its own part of the data, only replica 0's figures are ever evaluated or saved, and
  // training does not depend on them. When Trainer::Train returns, all replicas hold them.
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> optimizer;  // under the optimizer's names; equal on all replicas
  std::vector<NamedTensor> averages;   // of the parameters, where the run keeps them
  // What the codecs of each replica's links remember, "replica 0/activation 1 sent/0/residual"
  // (pipeline/codec_state.h). A run that is laid out in another way finds the names that it has.
  std::vector<NamedTensor> codecs;
  LossScaleState loss_scale;
};

// Tensors that are there by name, and read one by one: a rank reads those of its own stages.
struct TensorSource {
  std::map<std::string, TensorSpec> specs;  // in the layout of the memory
  std::function<Tensor(const std::string& name)> read;
};

// A state wherever it lies.
struct StateSource {
  int64_t step = 0;
  TensorSource weights, optimizer, averages, codecs;
  LossScaleState loss_scale;
};

// One in memory, of which it shares the tensors.
StateSource SourceOf(const TrainState& state);

}  // namespace torus::parallel
