// The machine's float32 matrix product, the yardstick of the benchmarks.
#pragma once

namespace torus::bench {

// GFLOP/s of the best of several 2048-cube products by oneDNN on the calling thread's team; takes a
// second or so.
double SgemmPeak();

}  // namespace torus::bench
