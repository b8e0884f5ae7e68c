// tools/simulate: what each pipeline schedule would take on a given pipeline, without running it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "parallel/schedule/comparison.h"
#include "parallel/schedule/csv.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "runtime/error.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/simulate/pipeline_file.h"

namespace torus::tools {
namespace {

struct Invocation {
  parallel::Pipeline pipeline{.micro_batches = 8, .ranks = 4};
  double forward = 1, backward = 2;
  double reduce = 0, step = 0, encode = 0, decode = 0;  // seconds
  double boundary = 0, state = 0, activations = 0;      // MiB
  std::vector<std::string> links;
  std::string file, trace, draw;
  bool csv = false;
};

void AddCosts(CLI::App& app, Invocation& invocation) {
  const auto add = [&](const char* flag, double& value, const char* help) {
    app.add_option(flag, value, help)->check(CLI::NonNegativeNumber)->excludes("--file");
  };
  add("--forward", invocation.forward, "Seconds of a micro-batch's forward on a rank");
  add("--backward", invocation.backward, "Seconds of its backward, both halves");
  add("--reduce", invocation.reduce, "Seconds of a rank's all-reduce of gradients");
  add("--step", invocation.step, "Seconds of a rank's optimizer");
  add("--encode", invocation.encode, "Seconds of the codec on the rank that sends");
  add("--decode", invocation.decode, "Seconds of the codec on the rank that receives");
  add("--boundary", invocation.boundary, "MiB that cross a cut, in each direction");
  add("--state", invocation.state, "MiB of a rank's weights, gradients and optimizer");
  add("--activations", invocation.activations, "MiB of a micro-batch on a rank until its backward");
}

void AddFlags(CLI::App& app, Invocation& invocation) {
  parallel::Pipeline& pipeline = invocation.pipeline;
  const CLI::Range sizes(1, 4096);
  app.add_option("--file", invocation.file,
                 "All of the following from one JSON file, maybe other for each rank; "
                 "tools/simulate/pipeline_file.h has its form");
  app.add_option("--ranks", pipeline.ranks, "Ranks of the pipeline")
      ->check(sizes)
      ->excludes("--file");
  app.add_option("--micro-batches", pipeline.micro_batches, "Parts of a mini-batch")
      ->check(sizes)
      ->excludes("--file");
  app.add_option("--chunks", pipeline.chunks, "Stages a rank of the schedules that have several")
      ->check(sizes)
      ->excludes("--file");
  app.add_option("--backward-input-share", pipeline.costs.backward_input_share,
                 "Of a backward, what the half for the inputs takes")
      ->check(CLI::Range(0.0, 1.0))
      ->excludes("--file");
  AddCosts(app, invocation);
  app.add_option(
         "--link", invocation.links,
         "Between all ranks, or with 0-1: or 0>1: before it between two, both ways or one: "
         "LATENCY,BANDWIDTH[,window=BYTES][,jitter=TIME], as 10ms,1Gbps,window=64KB; may be "
         "given several times")
      ->allow_extra_args(false)
      ->excludes("--file");
  app.add_option("--from-trace", invocation.trace,
                 "Forward and backward times of each rank from the trace.json of a run: medians");
  app.add_option("--draw", invocation.draw, "A schedule to draw, as equal slots of time");
  app.add_flag("--csv", invocation.csv, "Print that schedule as a table for --schedule csv:FILE")
      ->needs("--draw");
}

void SetCosts(Invocation& invocation) {
  parallel::Pipeline& pipeline = invocation.pipeline;
  parallel::CostModel& costs = pipeline.costs;
  const auto all = [&](std::vector<double>& list, double value) {
    list.assign(pipeline.ranks, value);
  };
  all(costs.forward, invocation.forward), all(costs.backward, invocation.backward);
  all(costs.reduce, invocation.reduce), all(costs.step, invocation.step);
  all(costs.encode, invocation.encode), all(costs.decode, invocation.decode);
  all(costs.boundary_bytes, invocation.boundary * 0x1p20);
  all(costs.state_bytes, invocation.state * 0x1p20);
  all(costs.activation_bytes, invocation.activations * 0x1p20);
  costs.links = parallel::ParseLinks(invocation.links);
}

void Draw(const Invocation& invocation) {
  const parallel::Pipeline& pipeline = invocation.pipeline;
  const parallel::Schedule schedule = parallel::MakeSchedule(
      invocation.draw, {.ranks = pipeline.ranks,
                        .micro_batches = pipeline.micro_batches,
                        .chunks = parallel::TakesChunks(invocation.draw) ? pipeline.chunks : 1});
  fmt::print("{}", invocation.csv ? parallel::ToCsv(schedule) : parallel::Staircase(schedule));
}

int Main(int argc, char** argv) {
  Invocation invocation;
  CLI::App app(
      "Predicts what each pipeline schedule takes, in time, memory and bytes, from the times of "
      "its "
      "parts and the links between its ranks.",
      "simulate");
  AddFlags(app, invocation);
  if (PrintsHelp(app, argc, argv)) return 0;
  if (invocation.file.empty())
    SetCosts(invocation);
  else
    invocation.pipeline = ReadPipeline(UserPath(invocation.file));
  if (!invocation.trace.empty()) FitTimes(UserPath(invocation.trace), invocation.pipeline);
  if (!invocation.csv)
    fmt::print("{}", parallel::ToTable(parallel::CompareSchedules(invocation.pipeline)));
  if (!invocation.draw.empty()) Draw(invocation);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("simulate", [&] { return torus::tools::Main(argc, argv); });
}
