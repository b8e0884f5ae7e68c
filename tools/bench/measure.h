// What the kernel benchmarks share: data, rates of the machine, counters.
//
// Counters: "FLOP" and "bytes" a second; "peak" is the share of GemmPeak in the thread's precision,
// "copy" that of Copy's, both measured in the same run. Bytes count each tensor's reads and writes
// once, from memory.
#pragma once

#include <benchmark/benchmark.h>

#include <vector>

#include "autograd/variable.h"

namespace torus::bench {

// f32, normal, the same at every call.
Variable Random(const Shape& shape, double stddev, bool requires_grad);

void Report(benchmark::State& state, double flop, double bytes);

// Times `f`, after a first call in which primitives are made and memory is taken.
template <class F>
void Measure(benchmark::State& state, const F& f) {
  f();
  for (auto _ : state) f();
}

// Times the backward of `y` for a gradient of ones; `leaves` are what it accumulates into.
void MeasureBackward(benchmark::State& state, const Variable& y, std::vector<Variable> leaves);

}  // namespace torus::bench
