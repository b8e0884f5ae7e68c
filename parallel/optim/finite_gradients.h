// Whether gradients are finite, in one pass at the speed of memory.
#pragma once

#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// Whether no parameter's gradient holds an infinity or NaN; one without gradient is finite. f32 and
// f64 gradients.
bool GradientsAreFinite(const std::vector<NamedVariable>& parameters);

// The same in two halves: begun where the gradients lie, without a wait for a GPU; and read, with
// one. What is begun can be recorded (runtime/graph.h) and read behind each launch.
Tensor StartFiniteCheck(const std::vector<NamedVariable>& parameters);
bool IsFinite(const Tensor& started);

}  // namespace torus::parallel
