#include "tools/bench/measure.h"

#include <algorithm>
#include <chrono>

#include "autograd/backward.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "tools/bench/gemm_peak.h"

namespace torus::bench {
namespace {

// Best of five, in seconds.
template <class F>
double BestOf(const F& f) {
  double best = 1e30;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    best = std::min(
        best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

double GemmRate() {
  static const double rate =
      1e9 * GemmPeak({WithPrecision::Current(),
                      WithPrecision::Native() ? MatmulMode::kNative : MatmulMode::kEmulated});
  return rate;
}

double CopyRate() {
  static const double rate = [] {
    const Tensor from = Full({16 << 20}, 1);
    Tensor to({16 << 20}, DType::kF32);
    return 2.0 * static_cast<double>(from.bytes()) / BestOf([&] { Copy(from, to); });
  }();
  return rate;
}

}  // namespace

Variable Random(const Shape& shape, double stddev, bool requires_grad) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, stddev, RandomStream({.seed = 1}));
  return Variable(out, requires_grad);
}

void Report(benchmark::State& state, double flop, double bytes) {
  const auto per_second = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["FLOP"] = benchmark::Counter(flop, per_second);
  state.counters["bytes"] = benchmark::Counter(bytes, per_second);
  state.counters["peak"] = benchmark::Counter(flop / GemmRate(), per_second);
  state.counters["copy"] = benchmark::Counter(bytes / CopyRate(), per_second);
}

void MeasureBackward(benchmark::State& state, const Variable& y, std::vector<Variable> leaves) {
  const Tensor dy = Full(y.shape(), 1, y.dtype());
  Measure(state, [&] {
    for (Variable& leaf : leaves) leaf.ZeroGrad();
    Backward({y}, {dy}, {.retain_graph = true, .wanted = {}});
  });
}

}  // namespace torus::bench
