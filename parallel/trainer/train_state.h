// The state of training: all that a run needs to continue as if it had never stopped.
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
// the model's layout in memory.
struct TrainState {
  // Mini-batches done. With the sampler's seed it gives the position in the data too.
  int64_t step = 0;
  // Parameters and buffers, in model order; a tied parameter once. Each replica's batch norm sees
  // only its part of the data. Running statistics are those of replica 0 (unless
  // TrainerOptions::reproducible merges those of all); only these are evaluated or saved, training
  // does not depend on them, and all replicas have them when Trainer::Train returns.
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> optimizer;  // under the optimizer's names
  std::vector<NamedTensor> averages;   // of the parameters, where the run keeps them
  // The state of the codecs on each replica's links, "replica 0/activation 1 sent/0/residual"
  // (pipeline/codec_state.h). A run with another layout loads the names that it has in common.
  std::vector<NamedTensor> codecs;
  // With a strategy whose replicas exchange weights (data_parallel/weight_exchange.h) `weights` are
  // the mean of the replicas', and `optimizer` is that of replica 0. What else each
  // replica has is here, by name (replica_tensors.h).
  std::vector<NamedTensor> replicas;
  LossScaleState loss_scale;  // of the run
};

// Tensors that can be read one by one, by name: a rank reads only those of its own stages.
struct TensorSource {
  std::map<std::string, TensorSpec> specs;  // in the layout of the memory
  std::function<Tensor(const std::string& name)> read;
};

// A state in memory or in files.
struct StateSource {
  int64_t step = 0;                                             // mini-batches done
  TensorSource weights, optimizer, averages, codecs, replicas;  // as TrainState has them
  LossScaleState loss_scale;                                    // of the run
};

// A source for a state in memory; it shares the state's tensors.
StateSource SourceOf(const TrainState& state);

}  // namespace torus::parallel
