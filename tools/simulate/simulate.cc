// tools/simulate: predicts how long each schedule takes on a given pipeline, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <nlohmann/json.hpp>

#include "parallel/schedule/comparison.h"
#include "parallel/schedule/csv.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/svg.h"
#include "runtime/error.h"
#include "tools/common/check_flags.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/simulate/fit_file.h"
#include "tools/simulate/pipeline_file.h"
#include "tools/simulate/replica_flags.h"
#include "tools/simulate/tensor_ranks.h"

namespace torus::tools {
namespace {

struct Invocation {
  parallel::Pipeline pipeline{.micro_batches = kDefaultMicroBatches, .ranks = 4};
  // Of each rank, an entry for each of kCostLists; MiB of what is in bytes.
  double costs[std::size(parallel::kCostLists)] = {kDefaultForward, kDefaultBackward};
  std::vector<std::string> links;
  TensorFlags tensor;
  double tensor_mib = 0;
  std::string tensor_cuts = "shared";
  ReplicaFlags replicas;
  double weights_mib = 0;
  std::string file, fit, trace, draw, svg, json;
  bool csv = false;
};

// Seconds and MiB of which no sum overflows.
const CLI::Range& Costs() {
  static const CLI::Range range(0.0, 1e12);
  return range;
}

void AddCosts(CLI::App& app, Invocation& invocation) {
  double* value = invocation.costs;
  for (const parallel::CostList& kind : parallel::kCostLists)
    app.add_option(fmt::format("--{}", kind.name), *value++,
                   fmt::format("{} {}", kind.in_bytes ? "MiB" : "Seconds", kind.about))
        ->check(Costs());
}

void AddFlags(CLI::App& app, Invocation& invocation) {
  parallel::Pipeline& pipeline = invocation.pipeline;
  const CLI::Range sizes(1, 4096);
  app.add_option("--file", invocation.file,
                 "Read the pipeline, its costs and links, from a JSON file, in which ranks can "
                 "differ (format: tools/simulate/pipeline_file.h). Default: from the flags");
  app.add_option("--ranks", pipeline.ranks, "Ranks of the pipeline")->check(sizes);
  app.add_option("--micro-batches", pipeline.micro_batches, "Micro-batches per mini-batch")
      ->check(sizes);
  app.add_option("--chunks", pipeline.chunks, "Stages per rank, for schedules that have several")
      ->check(sizes);
  app.add_option("--backward-input-share", pipeline.costs.backward_input_share,
                 "Share of a backward pass that computes the gradients of the inputs")
      ->check(CLI::Range(0.0, 1.0));
  AddCosts(app, invocation);
  app.add_option("--link", invocation.links,
                 "A link: LATENCY,BANDWIDTH[,window=BYTES][,jitter=TIME], such as "
                 "10ms,1Gbps,window=64KB, between all ranks; with 0-1: in front between ranks 0 "
                 "and 1 both ways, with 0>1: one way. May be repeated. Default: transfers take no "
                 "time")
      ->allow_extra_args(false);
  app.add_option("--fit", invocation.fit,
                 "Fit the free costs of this JSON file to its measured rows, and predict the other "
                 "rows (format: tools/simulate/fit_file.h). With --json alone. Default: none");
  app.add_option("--from-trace", invocation.trace,
                 "Take each rank's median forward and backward times from a run's trace.json. "
                 "Default: --forward and --backward");
  app.add_option("--draw", invocation.draw,
                 "Draw this schedule in equal time slots. Default: none");
  app.add_option("--svg", invocation.svg,
                 "Draw the schedule of --draw to scale, with its transfers, into this SVG file. "
                 "Default: none");
  app.add_flag("--csv", invocation.csv,
               "Print the schedule of --draw as a table for --schedule csv:FILE");
  app.add_option("--json", invocation.json,
                 "Write the figures of each schedule to this file too. Default: none");
}

void AddTensorFlags(CLI::App& app, Invocation& invocation) {
  TensorFlags& tensor = invocation.tensor;
  app.add_option("--tensor", tensor.ranks,
                 "Tensor-parallel ranks per stage, as --tensor of train: they share its work "
                 "and sum over links of their own. All other costs are those of a single rank")
      ->check(CLI::Range(1, 4096));
  app.add_option("--model", tensor.model,
                 "Model whose blocks the tensor-parallel ranks share, such as gpt2:4 or roberta; "
                 "its blocks are spread evenly over the pipeline. Default: none");
  app.add_option("--tensor-link", tensor.link,
                 "Link between tensor-parallel ranks: LATENCY,BANDWIDTH as for --link. Default: "
                 "transfers take no time");
  app.add_option("--tensor-cuts", invocation.tensor_cuts,
                 "What tensor-parallel ranks send to the next stage, as in train: shared (each a "
                 "part) or whole")
      ->check(CLI::IsMember({"shared", "whole"}));
  app.add_option("--tensor-activation", invocation.tensor_mib,
                 "MiB of each sum over tensor-parallel ranks. Default: --boundary")
      ->check(Costs());
}

void AddReplicaFlags(CLI::App& app, Invocation& invocation) {
  ReplicaFlags& replicas = invocation.replicas;
  app.add_option(
         "--replicas", replicas.replicas,
         "Replicas of the pipeline, as --replicas of train. Their exchange overlaps nothing")
      ->check(CLI::Range(1, 4096));
  app.add_option("--strategy", replicas.strategy,
                 "How they get the same weights, as in train: ddp (an all-reduce a step), "
                 "local-sgd:H or diloco:H (one every H steps), gossip:GRAPH (to neighbours)");
  app.add_option("--weights", invocation.weights_mib, "MiB of each rank's weights")->check(Costs());
  app.add_option("--replica-link", replicas.link,
                 "Link of a replica to the others: LATENCY,BANDWIDTH as for --link. Default: "
                 "transfers take no time");
}

std::vector<HereOrNot> ContextsOf(const Invocation& invocation) {
  return {{"no-fit", invocation.fit.empty(), "give one of them"},
          {"no-file", invocation.file.empty(), "give one of them"},
          {"no-trace", invocation.trace.empty(), "give one of them"},
          {"draw", !invocation.draw.empty(), "which names the schedule"},
          {"tensor", invocation.tensor.ranks > 1, "got 1"},
          {"replicas", invocation.replicas.replicas > 1, "but --replicas is 1"}};
}

void SetCosts(Invocation& invocation) {
  parallel::Pipeline& pipeline = invocation.pipeline;
  parallel::CostModel& costs = pipeline.costs;
  const double* value = invocation.costs;
  for (const parallel::CostList& kind : parallel::kCostLists)
    (costs.*kind.list).assign(pipeline.ranks, *value++ * (kind.in_bytes ? 0x1p20 : 1));
  costs.links = parallel::ParseLinks(invocation.links);
}

// Sets the picture of --svg, and returns what --draw prints.
std::string Draw(const Invocation& invocation, std::string& svg) {
  const parallel::Pipeline& pipeline = invocation.pipeline;
  const int chunks = parallel::ChunksOf(invocation.draw, pipeline);
  const parallel::Schedule schedule = parallel::MakeSchedule(
      invocation.draw,
      {.ranks = pipeline.ranks, .micro_batches = pipeline.micro_batches, .chunks = chunks});
  if (!invocation.svg.empty())
    svg = parallel::ToSvg(schedule,
                          parallel::Simulate(schedule, parallel::StageCosts(pipeline, schedule)));
  if (invocation.csv) return parallel::ToCsv(schedule);
  return invocation.svg.empty() ? parallel::Staircase(schedule) : "";
}

// Appends a line to `lines` if there are replicas.
std::vector<parallel::ScheduleFigures> Compared(const Invocation& invocation, std::string& lines) {
  ReplicaFlags flags = invocation.replicas;
  if (flags.replicas == 1) return parallel::CompareSchedules(invocation.pipeline);
  flags.weights = invocation.weights_mib * 0x1p20;
  const parallel::ReplicaRounds rounds = RoundsOf(flags, invocation.pipeline.ranks);
  lines += LineOf(flags, rounds);
  return parallel::CompareSchedules(invocation.pipeline, rounds);
}

std::string ToJson(const std::vector<parallel::ScheduleFigures>& all) {
  nlohmann::json json = nlohmann::json::array();
  for (const parallel::ScheduleFigures& one : all)
    json.push_back({{"schedule", one.name},
                    {"chunks", one.chunks},
                    {"seconds", one.seconds},
                    {"bubble", one.bubble},
                    {"micro_batches_in_flight", one.in_flight},
                    {"peak_bytes", one.peak_bytes},
                    {"sent_bytes", one.sent_bytes}});
  return json.dump(2) + "\n";
}

int Main(int argc, char** argv) {
  Invocation invocation;
  CLI::App app(
      "Predicts time, memory and bytes of each pipeline schedule from the times of its stages and "
      "the links between its ranks.",
      "simulate");
  AddFlags(app, invocation);
  AddTensorFlags(app, invocation);
  AddReplicaFlags(app, invocation);
  if (PrintsHelp(app, argc, argv)) return 0;
  CheckFlags("simulate", GivenBy(app), ContextsOf(invocation));
  for (std::string* path :
       {&invocation.file, &invocation.fit, &invocation.trace, &invocation.svg, &invocation.json})
    *path = UserPath(*path);
  CheckOutput("simulate", "--svg", invocation.svg);
  CheckOutput("simulate", "--json", invocation.json);
  if (invocation.draw.starts_with("csv:"))
    invocation.draw = "csv:" + UserPath(invocation.draw.substr(4));
  if (!invocation.fit.empty()) {
    const FitFile file = ReadFitFile(invocation.fit);
    const FitPrediction prediction = Predict(file);
    fmt::print("{}", ToTable(file, prediction));
    if (!invocation.json.empty())
      WriteOutput(invocation.json, ToJson(file, prediction).dump(2) + "\n", stdout);
    return 0;
  }
  if (invocation.file.empty())
    SetCosts(invocation);
  else
    invocation.pipeline = ReadPipeline(invocation.file);
  CheckSize(invocation.pipeline);
  if (!invocation.trace.empty()) FitTimes(invocation.trace, invocation.pipeline);
  std::string sums;
  invocation.tensor.share_cuts = invocation.tensor_cuts == "shared";
  invocation.tensor.activation = invocation.tensor_mib * 0x1p20;
  if (invocation.tensor.ranks > 1) sums = SplitStages(invocation.tensor, invocation.pipeline);
  std::string svg;
  const std::string drawn = invocation.draw.empty() ? "" : Draw(invocation, svg);
  const auto compared = Compared(invocation, sums);
  if (!invocation.csv) fmt::print("{}", sums + parallel::ToTable(compared));
  fmt::print("{}", drawn);
  std::FILE* const say = invocation.csv ? stderr : stdout;  // a table alone goes into a file
  if (!invocation.svg.empty()) WriteOutput(invocation.svg, svg, say);
  if (!invocation.json.empty()) WriteOutput(invocation.json, ToJson(compared), say);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("simulate", [&] { return torus::tools::Main(argc, argv); });
}
