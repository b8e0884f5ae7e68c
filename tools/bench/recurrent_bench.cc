// LSTM layers of 256 units over 50 steps, on the calling thread's team (--threads). measure.h says
// what the counters are.
#include <fmt/format.h>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "models/nn/recurrent.h"
#include "runtime/tensor.h"
#include "tools/bench/measure.h"

namespace torus::bench {
namespace {

constexpr int64_t kSteps = 50, kUnits = 256;

// Of the inputs' and the state's product.
double Flop(int64_t batch) {
  return 2.0 * 2 * 4 * kSteps * kUnits * kUnits * static_cast<double>(batch);
}

struct Layer : nn::Lstm {
  Layer() : nn::Lstm({.input_size = kUnits, .hidden_size = kUnits}) { Initialize(1); }
};

void LstmForward(benchmark::State& state, int64_t batch) {
  Layer layer;
  const Variable x = Random({kSteps, batch, kUnits}, 1, false);
  const NoGrad none;
  Measure(state, [&] { benchmark::DoNotOptimize(layer.Forward(x, {}).data().raw()); });
  Report(state, Flop(batch), 0);
}

void LstmTrain(benchmark::State& state, int64_t batch) {
  Layer layer;
  Variable x = Random({kSteps, batch, kUnits}, 1, true);
  std::vector<NamedVariable> parameters = layer.Parameters();
  const Tensor ones = Full({kSteps, batch, kUnits}, 1);
  Measure(state, [&] {
    x.ZeroGrad();
    for (NamedVariable& p : parameters) p.value.ZeroGrad();
    Backward({layer.Forward(x, {})}, {ones});
  });
  Report(state, 3 * Flop(batch), 0);
}

void Add(const char* what, void (*run)(benchmark::State&, int64_t), int64_t batch) {
  benchmark::RegisterBenchmark(fmt::format("lstm/{}/{}", what, batch).c_str(), run, batch)
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

[[maybe_unused]] const bool registered = [] {
  for (const int64_t batch : {1, 8, 32, 128})
    Add("forward", LstmForward, batch), Add("train", LstmTrain, batch);
  return true;
}();

}  // namespace
}  // namespace torus::bench
