// Whether gradients are finite, in one pass at the speed of memory.
#pragma once

#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// Whether no parameter's gradient holds an infinity or NaN; one without gradient is finite. f32 and
// f64 gradients.
bool GradientsAreFinite(const std::vector<NamedVariable>& parameters);

}  // namespace torus::parallel
