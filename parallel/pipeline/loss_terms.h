// LossTerms: the losses of a mini-batch's micro-batches, which stay on the device until their sum
// is asked for: a GPU's are read then, all at once.
#pragma once

#include <optional>
#include <vector>

#include "runtime/tensor.h"

namespace torus::parallel {

class LossTerms {
 public:
  void Clear();
  // The loss of a micro-batch, of one element, and its share in the whole.
  void Add(int micro_batch, double weight, const Tensor& loss);
  // Weighted, in a tree over the micro-batches (runtime/binary_counter.h), whatever the order of
  // the Adds. Waits for the device that the losses are on.
  double Sum() const;

 private:
  struct Term {
    double weight = 0;
    Tensor loss;  // undefined: no samples
  };
  std::vector<double> Values() const;  // as the terms; 0 for the undefined

  std::vector<Term> terms_;            // by micro-batch
  mutable std::optional<double> sum_;  // of all so far
};

}  // namespace torus::parallel
