// Benchmarks: kernels (the other files of this folder), whole training steps, and steps on demand
// for compare_pytorch.py.
//
//   bench [--threads N] [--precision bf16 [--emulate]] [--benchmark_filter=TrainStep]
//         [--benchmark_min_warmup_time=1] ...  (Google Benchmark's flags)
//   bench --step_json EXCHANGE [--model NAME] [--recompute] [--precision bf16] [--threads N]
//         (step_server.h)
//   bench --memory [--threads N]  (memory_table.h)
//   bench --collectives [--ranks 2,4,8] [--bytes 1000,1000000] [--case NAME] [--rounds N]
//         (collectives_table.h)
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <vector>

#include "parallel/transport/run_ranks.h"
#include "recipes/settings/precision.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tools/bench/collectives_table.h"
#include "tools/bench/memory_table.h"
#include "tools/bench/step_server.h"
#include "tools/bench/train_step.h"
#include "tools/common/check_flags.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
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

struct Flags {
  int threads = 0;
  std::string exchange, model = "mobilenet_v2", precision = "f32";
  bool recompute = false, emulate = false, memory = false, collectives = false;
  std::vector<int> ranks = {2, 4, 8};
  CollectivesOptions of_collectives;
};

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--threads", flags.threads, "CPU threads; 0: one per core")
      ->check(CLI::Range(0, 4096));
  app.add_option("--precision", flags.precision, "f32 or bf16");
  app.add_flag("--emulate", flags.emulate, "Round to bf16 but compute in f32, on any processor");
  app.add_option("--step_json", flags.exchange,
                 "Run steps of the model in this file as numbers on standard input ask for them "
                 "(tools/bench/step_server.h). Default: none");
  app.add_option("--model", flags.model, "As --model of train");
  app.add_flag("--recompute", flags.recompute, "Keep no activations within layers");
  app.add_flag("--memory", flags.memory, "Measure memory and time of steps with recompute");
  app.add_flag("--collectives", flags.collectives, "Measure collectives between threads");
  app.add_option("--ranks", flags.ranks, "Numbers of ranks, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  CollectivesOptions& of = flags.of_collectives;
  app.add_option("--bytes", of.bytes, "Sizes in bytes, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("--case", of.filter, "Only cases whose name contains this. Default: all");
  app.add_option("--rounds", of.rounds, "Repetitions of each case")->check(CLI::Range(1, 1 << 20));
  app.footer(
      "Without --step_json, --memory and --collectives it measures kernels and training steps by "
      "Google Benchmark, whose flags it takes too, such as --benchmark_filter=TrainStep.");
  app.allow_extras();
}

std::vector<tools::HereOrNot> ContextsOf(const Flags& flags) {
  const bool low = flags.precision == "bf16" || flags.precision == "f16";
  return {{"steps", !flags.exchange.empty(), "which names the steps"},
          {"collectives", flags.collectives, "which has ranks"},
          {"no-collectives", !flags.collectives, "whose ranks have one each"},
          {"kernels", !flags.collectives && !flags.memory, "not to --collectives and --memory"},
          {"low", low, "got " + flags.precision}};
}

void CheckModes(const CLI::App& app, const Flags& flags) {
  Require(flags.collectives + flags.memory + !flags.exchange.empty() <= 1, "bench",
          "give one of --step_json, --memory and --collectives");
  for (const std::string& word : app.remaining())
    Require(word.starts_with("--benchmark_"), "bench",
            "unknown argument {}: Google Benchmark's flags begin with --benchmark_ (--help lists "
            "the others)",
            word);
}

void PrintCollectivesTable(const Flags& flags) {
  PrintCollectivesHead(std::cout);
  for (const int size : flags.ranks) {
    parallel::ThreadWorld world(size);
    PrintCollectives(world, flags.of_collectives, std::cout);
  }
}

int RunBenchmarks(const CLI::App& app, char* program, Precision precision) {
  std::vector<std::string> words = app.remaining();
  std::vector<char*> argv{program};
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  RegisterTrainSteps(precision);
  benchmark::Initialize(&argc, argv.data());
  if (benchmark::ReportUnrecognizedArguments(argc, argv.data())) return 2;
  const WithPrecision with(precision);  // of the kernels' benchmarks; steps set their own
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Measures kernels, training steps, their memory, and collectives.", "bench");
  AddFlags(app, flags);
  if (tools::PrintsHelp(app, argc, argv)) return 0;
  CheckModes(app, flags);
  tools::CheckFlags("bench", tools::GivenBy(app), ContextsOf(flags));
  const Precision precision =
      recipes::CheckedPrecision("bench", flags.precision, flags.emulate, Device{});
  if (flags.threads > 0) SetTeamSize(flags.threads);
  if (flags.collectives) {
    PrintCollectivesTable(flags);
  } else if (!flags.exchange.empty()) {
    ServeSteps({.model = flags.model, .recompute = flags.recompute, .precision = precision},
               tools::UserPath(flags.exchange), std::cin, std::cout);
  } else if (flags.memory) {
    PrintMemoryTable(std::cout);
  } else {
    return RunBenchmarks(app, argv[0], precision);
  }
  return 0;
}

}  // namespace
}  // namespace torus::bench

int main(int argc, char** argv) {
  return torus::tools::RunMain("bench", [&] { return torus::bench::Main(argc, argv); });
}
