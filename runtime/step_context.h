// What a forward may depend on besides its inputs: its place in the training. It keys random
// numbers and batch statistics; ranks do not, so every cut of a model draws the same numbers.
//
// A loop in one process gives the seed, the step and, for a mini-batch that it divides into
// micro-batches, the number and samples of each:
//   model.Forward(x, {.seed = 1, .step = step})
// The last two members are set where several ranks (threads or processes) compute together.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/gather_replicas.h"
#include "runtime/tensor_ranks.h"

namespace torus {

// What a forward is told of the step that it is part of.
struct StepContext {
  uint64_t seed = 0;  // of the run
  // Mini-batches done before this one. Dropout draws the same numbers again for an equal step.
  int64_t step = 0;
  int micro_batch = 0;   // index within this replica's mini-batch
  bool training = true;  // dropout is on, batch norm uses batch statistics
  // For each row of the micro-batch, its position in the global mini-batch. Empty: 0, 1, ..., which
  // are those of a mini-batch in one piece.
  std::vector<int64_t> samples = {};
  // Set if batch norm is synchronised over several replicas; in training only. The backward of this
  // forward may keep it. Do not call it for tensors on meta.
  GatherReplicas gather_replicas = {};
  // The ranks that compute each layer together, including this one; set in evaluation too.
  TensorRanks tensor_ranks = {};
};

// The samples of an input of `rows` rows: those of the context, or 0, 1, ... where it has none.
inline std::vector<int64_t> SamplesOf(const StepContext& context, int64_t rows) {
  if (!context.samples.empty()) return context.samples;
  std::vector<int64_t> numbers(static_cast<size_t>(rows));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace torus
