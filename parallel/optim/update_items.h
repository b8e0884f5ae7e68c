// What one step of an optimizer does to a parameter, as it is asked of a device.
#pragma once

#include <memory>
#include <vector>

#include "parallel/optim/adam_kernel.h"
#include "parallel/optim/sgd_kernel.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Contiguous tensors of one dtype, f32 or f64, on one device; the buffer is undefined without
// momentum.
struct SgdItem {
  Tensor gradient, parameter, buffer;
};

// The same; `largest` is undefined without AMSGrad.
struct AdamItem {
  Tensor gradient, parameter, mean, variance, largest;
};

// Of each item. A graph that is recorded shares them, and reads them again before each of its
// launches (runtime/graph.h).
template <class Scalars>
using StepScalars = std::shared_ptr<const std::vector<Scalars>>;

}  // namespace torus::parallel
