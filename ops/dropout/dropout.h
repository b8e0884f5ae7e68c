// Dropout (Srivastava et al. 2014), as torch.nn.functional.dropout, with keyed random numbers.
#pragma once

#include "autograd/variable.h"
#include "runtime/step_context.h"

namespace torus::ops {

// Sets each element to zero with probability p and scales the others by 1 / (1 - p). Outside of
// training, or with p = 0, the input itself.
//
// Element i of a sample is decided by word i of the stream (context.seed, context.step, layer, the
// sample's global number): the same whatever the micro-batch, the rank and the number of threads.
// Dimension 0 goes over context.samples, or a multiple of them (sequences flattened to tokens).
// f32 or f64. BadInput for p outside of [0, 1] and for rows that the samples do not divide.
Variable Dropout(const Variable& input, double p, const StepContext& context, uint64_t layer);

}  // namespace torus::ops
