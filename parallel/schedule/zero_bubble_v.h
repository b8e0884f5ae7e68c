// ZB-V (Qi et al. 2024, "Zero Bubble Pipeline Parallelism"): split backwards over V-shaped stages
// (v_shape.h). A micro-batch comes back to rank 0 for its last stage, so its
// backward starts where its forward started, and every rank is as far from both.
//
//   rank 0 | 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3I1 3W1 0I0 0W0 3F2 3I2 3W2 0I1 0W1 0I2 0W2
//   rank 1 | ..  1F0 2F0 1F1 2F1 2I0 2W0 1F2 1I0 1W0 2F2 2I1 2W1 1I1 2I2 1I2 1W1 2W2 1W2
//
// With equal parts f = b_input = w no rank idles once it has begun, if M >= 2K - 1; rank r begins r
// forwards of a stage later than rank 0. At most 2K stages' activations are in flight on a rank, as
// much as the K micro-batches of 1F1B, whose stages are twice as large.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and halves of backwards only; Lower adds the rest. Takes two chunks. Throws what
// CheckVShape throws.
Schedule ZeroBubbleV(const PipelineSize& size);

}  // namespace torus::parallel
