// DualPipeV (DeepSeek-AI 2025, github.com/deepseek-ai/DualPipe; Qi et al. 2025, "DualPipe could be
// better without the Dual"): DualPipe cut in half. V-shaped stages (v_shape.h); in the steady part
// forwards of one of a rank's stages alternate with whole backwards of the other, so that what one
// sends or gathers can be overlapped with the other's work. Backwards are split only where that
// shortens the ends:
//
//   rank 0 | 0F0 0F1 0F2 3F0 3I0 3W0 3F1 3B1 --  3F2 ..  0B0 --  3B2 --  0B1 --  ..  ..  0I2 0W2
//   rank 1 | ..  1F0 2F0 1F1 2F1 1F2 2B0 --  2F2 1B0 --  2B1 --  1B1 --  2B2 --  1B2 --  ..  ..
//
// At most 2K + 1 stages' activations are in flight on a rank.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and backwards, whole and half, only; Lower adds the rest. Takes two chunks.
// Throws what CheckVShape throws.
Schedule DualPipeV(const PipelineSize& size);

}  // namespace torus::parallel
