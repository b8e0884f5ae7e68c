// The machine's matrix product, the yardstick of the benchmarks.
#pragma once

#include "autograd/precision.h"

namespace torus::bench {

// GFLOP/s of the best of several 2048-cube products by oneDNN on the calling thread's team, in f32,
// or in bf16 where the precision is that with native products; takes a second or so.
double GemmPeak(Precision precision = {});

}  // namespace torus::bench
