// How point-wise ops of one input are made of a functor.
#pragma once

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/elementwise/kernels.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {

// f over every element of an f32 or f64 tensor, with its gradient; keeps input or output as the
// functor says. BadInput tagged `op` for another dtype.
template <class F>
Variable RecordMap(std::string_view op, const Variable& input, const F& f) {
  return InPrecision(
      op,
      [&](const Variable& input) {
        const Tensor x = input.data().Contiguous();
        Tensor y(x.shape(), x.dtype(), x.device());
        kernels::MapForward(op, f, x, y);
        return Record(
            op, y, {input},
            [op, f, kept = SavedActivation(F::kKeepsOutput ? y : x)](const GradContext& g) {
              const Tensor s = kept.get();
              Tensor dx(s.shape(), s.dtype(), s.device());
              kernels::MapBackward(op, f, s, g.grad(), dx);
              return Gradients{dx};
            });
      },
      input);
}

}  // namespace torus::ops
