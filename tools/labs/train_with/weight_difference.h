// The difference between the weights of two runs, and what it means, in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace torus::tools::labs {

struct WeightDifference {
  int64_t count = 0;   // parameters
  double largest = 0;  // |a - b|
  std::string tensor;  // where it is
  double weight = 0;   // the value of b there
};

// Compares the parameters in the newest checkpoints of two runs' folders, without running
// statistics. Throws BadInput if the runs have different models.
WeightDifference DifferenceOfWeights(const std::string& run_a, const std::string& run_b);

// Describes the difference between a run with a ring and one with the trainer's own, after `steps`
// steps. `other_order` is the difference of the run that sums in another order, if it was made.
std::string TextOf(const WeightDifference& difference, int64_t steps,
                   const std::optional<WeightDifference>& other_order);

}  // namespace torus::tools::labs
