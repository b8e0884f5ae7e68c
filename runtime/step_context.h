// What a forward may depend on besides its inputs: where in training it is. Random numbers and
// batch statistics are keyed by it, never by rank, so that every cut of a model draws the same
// ones.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/gather_replicas.h"
#include "runtime/tensor_ranks.h"

namespace torus {

struct StepContext {
  uint64_t seed = 0;
  int64_t step = 0;      // mini-batches done before this one
  int micro_batch = 0;   // index within this replica's mini-batch
  bool training = true;  // dropout on, batch statistics used
  // Global sample number of each row of the micro-batch: its position in the global mini-batch.
  std::vector<int64_t> samples;
  // Where batch norm is synchronised over several replicas, in training alone; the backward of this
  // forward may keep it. Not to be called for tensors on meta.
  GatherReplicas gather_replicas;
  // The ranks that compute each layer together, of which this is one; in evaluation too.
  TensorRanks tensor_ranks;
};

}  // namespace torus
