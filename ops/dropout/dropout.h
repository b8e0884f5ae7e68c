// Dropout (Srivastava et al. 2014), as torch.nn.functional.dropout, with counter-based random
// numbers.
#pragma once

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::ops {

// Sets each element to zero with probability p and scales the others by 1 / (1 - p). Returns the
// input itself outside of training or with p = 0.
//
// Word i of the stream (context.seed, context.step, layer, global number of the sample) decides
// element i of a sample, so the result does not depend on the micro-batch, the rank or the number
// of threads. Dimension 0 runs over context.samples, or a multiple of them (sequences flattened to
// tokens); if these are empty, its rows are samples 0, 1, .... f32 or f64. Throws BadInput for p
// outside of [0, 1], and if the number of samples does not divide dimension 0.
Variable Dropout(const Variable& input, double p, const StepContext& context, uint64_t layer);

// Add(Dropout(input), residual). On a GPU one pass, forward and backward, with the same bits; the
// backward draws the words again instead of keeping a mask.
Variable DropoutAdd(const Variable& input, const Variable& residual, double p,
                    const StepContext& context, uint64_t layer);

}  // namespace torus::ops
