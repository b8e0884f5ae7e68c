// Benchmarks: kernels (the other files of this folder), whole training steps, and steps on demand
// for compare_pytorch.py.
//
//   bench [--threads N] [--precision bf16 [--emulate]] [--benchmark_filter=TrainStep]
//         [--benchmark_min_warmup_time=1] ...  (Google Benchmark's flags)
//   bench --step_json EXCHANGE [--model NAME] [--recompute true] [--precision bf16] [--threads N]
//         (step_server.h)
//   bench --memory true [--threads N]  (memory_table.h)
//   bench --collectives [--ranks 2,4,8] [--bytes 1000,1000000] [--case NAME] [--rounds N]
//         (collectives_table.h)
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/transport/run_ranks.h"
#include "recipes/settings/precision.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tools/bench/collectives_table.h"
#include "tools/bench/memory_table.h"
#include "tools/bench/step_server.h"
#include "tools/bench/train_step.h"
#include "tools/common/user_path.h"

namespace torus::bench {
namespace {

void TrainStepBenchmark(benchmark::State& state, const std::string& model, Precision precision) {
  TrainStep step(
      {.model = model, .size = state.range(0), .batch = state.range(1), .precision = precision});
  step.Run();  // primitives are made and memory is taken in the first
  for (auto _ : state) benchmark::DoNotOptimize(step.Run());
  state.SetItemsProcessed(state.iterations() * state.range(1));
  state.counters["GFLOP/s"] =
      benchmark::Counter(step.flops() * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

struct Sizes {
  const char* model;
  std::vector<std::vector<int64_t>> size_and_batch;
};

// The same sizes as in compare_pytorch.py.
void RegisterTrainSteps(Precision precision) {
  const std::vector<Sizes> all = {{"mobilenet_v2", {{224, 16}, {96, 32}, {32, 64}}},
                                  {"vgg13", {{32, 64}, {224, 4}}},
                                  {"resnet18", {{32, 128}}},
                                  {"roberta", {{128, 8}}},
                                  {"gpt2", {{256, 4}}}};
  for (const Sizes& sizes : all) {
    auto* const registered =
        benchmark::RegisterBenchmark(fmt::format("TrainStep/{}", sizes.model).c_str(),
                                     TrainStepBenchmark, std::string(sizes.model), precision);
    registered->ArgNames({"size", "batch"})->Unit(benchmark::kMillisecond)->UseRealTime();
    for (const auto& pair : sizes.size_and_batch) registered->Args(pair);
  }
}

// Removes "--name VALUE" or "--name=VALUE" from the arguments and returns the value; empty if it is
// not there.
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

// Removes "--name" from the arguments; returns whether it was there.
bool TakeSwitch(int& argc, char** argv, const std::string& name) {
  char** const end = std::remove(argv + 1, argv + argc, name);
  const bool found = end != argv + argc;
  argc = static_cast<int>(end - argv);
  return found;
}

int64_t Number(const std::string& flag, std::string_view text, int64_t most) {
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  Require(read.ec == std::errc() && read.ptr == end && number >= 1 && number <= most, "bench",
          "{} must be from 1 to {}, got {}", flag, most, text);
  return number;
}

// Reads a comma-separated list; leaves `all` unchanged if there is no such flag.
template <class T>
void TakeNumbers(int& argc, char** argv, const std::string& name, int64_t most,
                 std::vector<T>& all) {
  const std::string text = TakeFlag(argc, argv, name);
  if (!text.empty()) all.clear();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    all.push_back(static_cast<T>(Number(name, text.substr(begin, end - begin), most)));
    begin = end + 1;
  }
}

void PrintCollectivesTable(int& argc, char** argv) {
  CollectivesOptions options;
  std::vector<int> sizes = {2, 4, 8};
  TakeNumbers(argc, argv, "--ranks", 1024, sizes);
  TakeNumbers(argc, argv, "--bytes", int64_t{1} << 40, options.bytes);
  options.filter = TakeFlag(argc, argv, "--case");
  const std::string rounds = TakeFlag(argc, argv, "--rounds");
  if (!rounds.empty()) options.rounds = static_cast<int>(Number("--rounds", rounds, 1 << 20));
  PrintCollectivesHead(std::cout);
  for (const int size : sizes) {
    parallel::ThreadWorld world(size);
    PrintCollectives(world, options, std::cout);
  }
}

int Main(int argc, char** argv) {
  const std::string threads = TakeFlag(argc, argv, "--threads");
  const std::string exchange = TakeFlag(argc, argv, "--step_json");
  const std::string model = TakeFlag(argc, argv, "--model");
  const bool recompute = TakeFlag(argc, argv, "--recompute") == "true";
  const std::string type = TakeFlag(argc, argv, "--precision");
  const bool emulate = TakeSwitch(argc, argv, "--emulate");
  const Precision precision =
      recipes::CheckedPrecision("bench", type.empty() ? "f32" : type, emulate, Device{});
  const bool memory = TakeFlag(argc, argv, "--memory") == "true";
  if (!threads.empty()) SetTeamSize(static_cast<int>(Number("--threads", threads, 4096)));
  if (TakeSwitch(argc, argv, "--collectives")) {
    PrintCollectivesTable(argc, argv);
    return 0;
  }
  if (!exchange.empty()) {
    ServeSteps({.model = model.empty() ? "mobilenet_v2" : model,
                .recompute = recompute,
                .precision = precision},
               tools::UserPath(exchange), std::cin, std::cout);
    return 0;
  }
  if (memory) {
    PrintMemoryTable(std::cout);
    return 0;
  }
  RegisterTrainSteps(precision);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const WithPrecision with(precision);  // of the kernels' benchmarks; steps set their own
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
