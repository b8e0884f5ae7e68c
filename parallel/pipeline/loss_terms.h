// LossTerms: the losses of a mini-batch's micro-batches. They stay on the device until Sum, which
// reads those on a GPU all at once.
#pragma once

#include <optional>
#include <vector>

#include "runtime/tensor.h"

namespace torus::parallel {

class LossTerms {
 public:
  void Clear();  // begins a mini-batch
  // Adds the loss of a micro-batch, of one element, and its weight in the sum.
  void Add(int micro_batch, double weight, const Tensor& loss);
  // The weighted sum, in a tree over the micro-batches (runtime/binary_counter.h), whatever the
  // order of the Adds. Waits for the losses' device.
  double Sum() const;

 private:
  struct Term {
    double weight = 0;
    Tensor loss;  // undefined: no samples
  };
  std::vector<double> Values() const;  // one per term; 0 if undefined

  std::vector<Term> terms_;            // by micro-batch
  mutable std::optional<double> sum_;  // of all so far
};

}  // namespace torus::parallel
