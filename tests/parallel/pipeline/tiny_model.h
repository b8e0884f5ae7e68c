// A small model of plain loops, to hold pipelines against: linear layers, tanh, a seeded dropout,
// and a skip connection that crosses cuts, so that some cuts carry two tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/pipeline/block.h"
#include "parallel/pipeline/executor.h"

namespace torus::parallel::tiny {

inline constexpr int kInputs = 5, kOutputs = 3, kBlocks = 7;

// The blocks, with the same values for the same seed. `commits` (may be null) counts calls of
// end_mini_batch.
std::vector<Block> MakeBlocks(uint64_t seed, int* commits = nullptr);

// Mean over the rows of the squared distance to the target.
Variable Loss(const std::vector<Variable>& outputs, const std::vector<Tensor>& targets);

// A global mini-batch of `samples` rows for `step`, cut into `micro_batches` parts of equal size,
// the last smaller or empty; of these replica `replica` of `replicas` gets its consecutive share of
// parts.
MiniBatch MakeBatch(int64_t step, int samples, int micro_batches, int replica = 0,
                    int replicas = 1);

// What stage 0 gets for the largest micro-batch.
std::vector<TensorSpec> InputSpecs(int samples, int micro_batches);

// Plain gradient descent: value -= rate * grad, and the gradient forgotten.
void Descend(const std::vector<NamedVariable>& parameters, float rate = 0.1f);

using Values = std::map<std::string, std::vector<float>>;

// Adds the values of the parameters to `values`.
void Collect(const std::vector<NamedVariable>& parameters, Values& values);

struct Trained {
  Values parameters;
  std::vector<double> losses;
  friend bool operator==(const Trained&, const Trained&) = default;
};

// Trains without a pipeline: each micro-batch through all blocks, backwards in ascending order.
Trained TrainPlain(int steps, int samples, int micro_batches);

}  // namespace torus::parallel::tiny
