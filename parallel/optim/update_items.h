// The tensors that an optimizer's kernel updates or reads for one parameter.
#pragma once

#include <memory>
#include <vector>

#include "parallel/optim/adam_kernel.h"
#include "parallel/optim/narrow_state.h"
#include "parallel/optim/sgd_kernel.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Contiguous tensors of one dtype, f32 or f64, on one device; the buffer is undefined without
// momentum. `low`, if defined, is given the updated parameter, an f32, rounded to nearest even to
// its dtype of 16 bits.
struct SgdItem {
  Tensor gradient, parameter, buffer, low;
  // Whether the state is of a narrower type than the parameter: never.
  static constexpr bool narrow() { return false; }
};

// Likewise; `largest` is undefined without AMSGrad. The moments of an f32 may be narrow, all of one
// type.
struct AdamItem {
  Tensor gradient, parameter;
  StateTensor mean, variance, largest;
  Tensor low;
  DType state_dtype() const { return mean.values.dtype(); }
  // Whether the moments are of a narrower type than the parameter.
  bool narrow() const { return state_dtype() != parameter.dtype(); }
};

// The scalars of each item. A recorded graph shares them, and reads them again before each launch
// (runtime/gpu_graph.h).
template <class Scalars>
using StepScalars = std::shared_ptr<const std::vector<Scalars>>;

}  // namespace torus::parallel
