// How the ops of this room are made of their functors.
#pragma once

#include "autograd/node.h"
#include "autograd/saved_activation.h"
#include "ops/activation/activation_kernel.h"

namespace torus::ops {

// f over every element of an f32 or f64 tensor, with its gradient; keeps input or output as the
// functor says. BadInput tagged `op` for another dtype.
template <class F>
Variable RecordMap(std::string_view op, const Variable& input, const F& f) {
  const Tensor x = input.data().Contiguous();
  Tensor y(x.shape(), x.dtype(), x.device());
  VisitCompute(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::MapForward(f, x.numel(), x.data<T>(), y.mutable_data<T>());
  });
  return Record(op, y, {input},
                [f, kept = SavedActivation(F::kKeepsOutput ? y : x)](const GradContext& g) {
                  const Tensor s = kept.get();
                  const Tensor& dy = g.grad();
                  Tensor dx(s.shape(), s.dtype(), s.device());
                  VisitCompute("gradient", s.dtype(), [&]<class T>(ComputeType<T>) {
                    cpu::MapBackward(f, s.numel(), s.data<T>(), dy.data<T>(), dx.mutable_data<T>());
                  });
                  return Gradients{dx};
                });
}

}  // namespace torus::ops
