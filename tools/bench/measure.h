// Shared by the kernel benchmarks: data, the machine's rates, counters.
//
// Counters: "FLOP" and "bytes" per second. "peak" is FLOP as a share of GemmPeak in the thread's
// precision, and "copy" is bytes as a share of a copy's rate; both are measured in the same run.
// Bytes count each tensor's reads and writes once, from memory.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

#include "autograd/variable.h"

namespace torus::bench {

// f32, normally distributed, the same values at every call.
Variable Random(const Shape& shape, double stddev, bool requires_grad);

void Report(benchmark::State& state, double flop, double bytes);

// Times `f`, after a first call that creates primitives and allocates memory.
template <class F>
void Measure(benchmark::State& state, const F& f) {
  f();
  for (auto _ : state) f();
}

// Times the backward of `y` with a gradient of ones, which accumulates into `leaves`.
void MeasureBackward(benchmark::State& state, const Variable& y, std::vector<Variable> leaves);

}  // namespace torus::bench
