// Applies a functor to every element on a CPU; ops/elementwise/kernels.h has the contracts. An op
// family instantiates its functors with cpu/map_loops.h.
#pragma once

#include <string_view>

#include "runtime/tensor.h"

namespace torus::cpu {

template <class F>
void MapForward(std::string_view op, const F& f, const Tensor& x, Tensor& y);

template <class F>
void MapBackward(std::string_view op, const F& f, const Tensor& kept, const Tensor& dy, Tensor& dx);

}  // namespace torus::cpu
