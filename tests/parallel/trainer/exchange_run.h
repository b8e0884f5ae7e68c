// Runs of strategies that exchange weights, and their weights by name.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/parallel/trainer/toy_model.h"

namespace torus::parallel::testing {

using Values = std::vector<double>;

inline ToyRun ExchangeRun(const std::string& strategy, int replicas) {
  ToyRun run;
  run.options = {.replicas = replicas, .strategy = strategy, .seed = 5};
  run.global = 2 * replicas;
  return run;
}

// Equal shares: the toy's batches are whole in every third step.
inline BatchFn EvenBatches(const ToyRun& run) {
  return [batches = run.Batches()](int64_t step, const RankPlace& place) {
    return batches(3 * step, place);
  };
}

inline const std::vector<std::string>& Names() {
  static const std::vector<std::string> names{"layer0.weight", "layer1.weight", "layer2.weight",
                                              "layer3.weight"};
  return names;
}

inline Values ValuesOf(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const NamedTensor& tensor : tensors)
    if (tensor.name == name) return ToVector<double>(tensor.value.To(DType::kF64));
  ADD_FAILURE() << "no " << name;
  return {};
}

}  // namespace torus::parallel::testing
