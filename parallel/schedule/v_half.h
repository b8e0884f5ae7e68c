// V-Half (Qi et al. 2024, "Pipeline Parallelism with Controllable Memory"): V-shaped stages
// (v_shape.h) and split backwards with half the memory of 1F1B and ZB-V. The passes of a
// micro-batch on the way down take two slots a rank, those on the way up one, so that what a rank
// holds of its two stages is as much on every rank.
//
//   rank 0 | 0F0 0F1 0F2 3F0 3I0 3W0 3F1 0I0 3I1 0W0 3W1 3F2 3I2 0I1 3W2 0I2 0W1 0W2 ..
//   rank 1 | ..  1F0 2F0 1F1 2F1 2I0 1I0 2W0 1W0 1F2 2F2 2I1 1I1 2I2 1I2 2W1 1W1 2W2 1W2
//
// At most 2 floor((K + 2) / 2) stages' activations are in flight on a rank, of 2K of 1F1B. With
// equal parts f = b_input = w of a stage and M >= K the ranks idle for less than 3 (K - 1) f, half
// of 1F1B's idle time (docs/simulator.md).
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and halves of backwards only; Lower adds the rest. Takes two chunks. Throws what
// CheckVShape throws.
Schedule VHalf(const PipelineSize& size);

}  // namespace torus::parallel
