// Whether gradients are finite, in one pass at the speed of memory.
#pragma once

#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// Whether no parameter's gradient has an infinity or NaN; a parameter without gradient counts as
// finite. For f32 and f64 gradients.
bool GradientsAreFinite(const std::vector<NamedVariable>& parameters);

// The same in two halves: StartFiniteCheck computes on the gradients' device without waiting for a
// GPU; IsFinite waits and reads the result. The first half can be recorded in a graph
// (runtime/gpu_graph.h), and the result read after each launch.
Tensor StartFiniteCheck(const std::vector<NamedVariable>& parameters);
bool IsFinite(const Tensor& started);

}  // namespace torus::parallel
