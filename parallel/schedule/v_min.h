// V-Min (Qi et al. 2024, "Pipeline Parallelism with Controllable Memory"): V-shaped stages
// (v_shape.h) and split backwards with a third of the memory of 1F1B and ZB-V. Every pass of
// a micro-batch follows the one before it at once, so that it is gone soonest.
//
//   rank 0 | 0F0 0F1 ..  3F0 3I0 3W0 3F1 0I0 3I1 0W0 0F2 0I1 3W1 3F2 3I2 0W1 3W2 0I2 0W2
//   rank 1 | ..  1F0 2F0 1F1 2F1 2I0 1I0 2W0 1W0 2I1 1I1 1F2 2F2 2W1 1W1 2I2 1I2 2W2 1W2
//
// At most 2 floor((K + 4) / 3) stages' activations are in flight on a rank, of 2K of 1F1B. With
// equal parts f = b_input = w of a stage the ranks idle for less than 4 (K - 1) f, two thirds of
// 1F1B's idle time (docs/simulator.md). With unequal parts they may idle for every micro-batch.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and halves of backwards only; Lower adds the rest. Takes two chunks. Throws what
// CheckVShape throws.
Schedule VMin(const PipelineSize& size);

}  // namespace torus::parallel
