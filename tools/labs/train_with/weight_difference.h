// How far the weights of two runs lie apart, and what that means, in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace torus::tools::labs {

struct WeightDifference {
  int64_t count = 0;   // parameters
  double largest = 0;  // |a - b|
  std::string tensor;  // where that is
  double weight = 0;   // what b has there
};

// Of the parameters in two runs' folders, as their newest checkpoints have them; running statistics
// are none. BadInput where the runs are of different models.
WeightDifference DifferenceOfWeights(const std::string& run_a, const std::string& run_b);

// What a run with a ring came to beside one with the trainer's own, over `steps`. `other_order`: of
// the same run with its sums in another order, where that was made.
std::string TextOf(const WeightDifference& difference, int64_t steps,
                   const std::optional<WeightDifference>& other_order);

}  // namespace torus::tools::labs
