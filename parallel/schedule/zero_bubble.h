// ZB-H1 (Qi et al. 2024, "Zero Bubble Pipeline Parallelism", section 2.2): 1F1B with split
// backwards. The half for the inputs, for which the previous rank waits, keeps its place. The half
// for the weights, for which no rank waits, comes r micro-batches later on rank r and fills time
// that would be idle at the end.
//
//   rank 0 | F0 F1 F2 .. .. I0 W0 F3 I1 W1 I2 W2 I3 W3
//   rank 1 | .. F0 F1 .. I0 F2 I1 W0 F3 I2 W1 I3 W2 W3
//   rank 2 | .. .. F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3
//
// With three equal parts f = b_input = w every rank idles for (K - 1) f, a third of 1F1B's idle
// time. At most min(M, K) micro-batches are in flight, counted until their weight half ends, as on
// rank 0 of 1F1B.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and halves of backwards only; Lower adds the rest. Throws what CheckSize throws.
Schedule ZeroBubbleH1(const PipelineSize& size);

}  // namespace torus::parallel
