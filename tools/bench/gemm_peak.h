// The machine's peak rate of matrix products, to which the benchmarks compare.
#pragma once

#include "autograd/precision.h"

namespace torus::bench {

// GFLOP/s of the best of several 2048 x 2048 x 2048 products by oneDNN on the calling thread's
// team: in bf16 if `precision` is bf16 with native products, otherwise in f32. Takes about a
// second.
double GemmPeak(Precision precision = {});

}  // namespace torus::bench
