// Benchmarks: kernels (the other files of this folder), whole training steps, and steps on demand for compare_pytorch.py.
//
//   bench [--threads N] [--benchmark_filter=TrainStep] [--benchmark_min_warmup_time=1] ...  (Google Benchmark's flags)
//   bench --step_json EXCHANGE [--threads N]                                                (step_server.h)
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "runtime/parallel_for.h"
#include "tools/bench/step_server.h"
#include "tools/bench/train_step.h"
#include "tools/common/user_path.h"

namespace torus::bench {
namespace {

void TrainStepBenchmark(benchmark::State& state) {
  TrainStep step({.size = state.range(0), .batch = state.range(1)});
  step.Run();  // primitives are made and memory is taken in the first
  for (auto _ : state) benchmark::DoNotOptimize(step.Run());
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

BENCHMARK(TrainStepBenchmark)
    ->Name("TrainStep/mobilenet_v2")
    ->ArgNames({"size", "batch"})
    ->Args({224, 16})
    ->Args({96, 32})
    ->Args({32, 64})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// The value of "--name VALUE" or "--name=VALUE", taken out of the arguments; empty when it is not there.
std::string TakeFlag(int& argc, char** argv, const std::string& name) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool joined = argument.starts_with(name + "=");
    if (!joined && argument != name) continue;
    Require(joined || i + 1 < argc, "bench", "{} needs a value", name);
    const std::string value = joined ? argument.substr(name.size() + 1) : argv[i + 1];
    const int taken = joined ? 1 : 2;
    for (int j = i; j + taken <= argc; ++j) argv[j] = argv[j + taken];
    argc -= taken;
    return value;
  }
  return {};
}

int Main(int argc, char** argv) {
  const std::string threads = TakeFlag(argc, argv, "--threads");
  const std::string exchange = TakeFlag(argc, argv, "--step_json");
  if (!threads.empty()) SetTeamSize(std::atoi(threads.c_str()));
  if (!exchange.empty()) {
    ServeSteps(tools::UserPath(exchange), std::cin, std::cout);
    return 0;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace torus::bench

int main(int argc, char** argv) {
  try {
    return torus::bench::Main(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "bench: " << e.what() << std::endl;
    return 1;
  }
}
