// 1F1B (PipeDream-Flush: Narayanan et al. 2021a, "Memory-Efficient Pipeline-Parallel DNN Training",
// section 3.2): once a rank has as many micro-batches in flight as there are ranks from it to the
// last, it alternates one forward and one backward.
//
//   rank 0 | F0 F1 F2 .. .. B0 F3 B1 .. B2 .. B3
//   rank 1 | .. F0 F1 .. B0 F2 B1 F3 B2 .. B3 ..
//   rank 2 | .. .. F0 B0 F1 B1 F2 B2 F3 B3 .. ..
//
// As fast as GPipe; rank r of K has at most min(M, K - r) micro-batches in flight instead of M.
#pragma once

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Returns forwards and backwards only; Lower adds the rest. Throws what CheckSize throws.
Schedule OneForwardOneBackward(const PipelineSize& size);

}  // namespace torus::parallel
