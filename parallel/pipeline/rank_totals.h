// Where a rank's time went.
#pragma once

#include <cstdint>

namespace torus::parallel {

// Seconds on the rank's own thread, summed over the steps so far. Time between actions counts in
// `pipeline` only.
struct RankTotals {
  double forward = 0;    // of all micro-batches
  double backward = 0;   // likewise
  double transfer = 0;   // encoding, copying, decoding
  double reduce = 0;     // sums and gathers over replicas, including waits
  double optimizer = 0;  // the step and the end of the mini-batch
  double idle = 0;       // waiting for another stage
  double pipeline = 0;   // from a step's first forward to its last backward, including all between
};

}  // namespace torus::parallel
