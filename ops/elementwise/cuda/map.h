// Applies a functor to every element on a GPU; ops/elementwise/kernels.h has the contracts. An op
// family instantiates its functors with cuda/map_loops.h.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cuda {

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y, StreamHandle stream);

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy, Tensor& dx,
                 StreamHandle stream);

}  // namespace torus::cuda
