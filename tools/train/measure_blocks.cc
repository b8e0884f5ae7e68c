// Prints how long each layer of a model takes, forward and backward on one thread, and its static
// cost. The constants of nn::StaticCost come from this program.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <numeric>

#include "models/build_model.h"
#include "models/nn/describe.h"
#include "parallel/trainer/block_costs.h"
#include "recipes/model/model_blocks.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"

namespace torus::tools {
namespace {

struct Options {
  std::string model = "mobilenet_v2";
  int64_t size = 32, batch = 64, classes = 10;
  int repeats = 5;
};

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void Measure(const Options& options) {
  SetTeamSize(1);
  const auto model = BuildModel(ParseModelSpec(options.model), options.classes, 1);
  const Shape input{options.batch, options.size, options.size, 3};
  const std::vector<nn::LayerSummary> layers =
      nn::Describe(*model, {Variable(Empty(input, DType::kF32, kMetaDevice))});
  const std::vector<parallel::Block> blocks = recipes::ModelBlocks(*model, layers);
  const parallel::CostModel measured =
      parallel::MeasureBlockCosts(blocks, {{input, DType::kF32}}, {.repeats = options.repeats});
  std::vector<double> seconds = measured.forward;
  for (size_t i = 0; i < seconds.size(); ++i) seconds[i] += measured.backward[i];
  std::vector<double> costs;
  for (const parallel::Block& block : blocks) costs.push_back(block.cost);
  fmt::print("{:>5}  {:<14}{:>12}{:>14}{:>12}{:>10}{:>10}{:>10}\n", "layer", "name", "flops",
             "activations", "parameters", "ms", "share", "static");
  for (size_t i = 0; i < layers.size(); ++i)
    fmt::print("{:>5}  {:<14}{:>12}{:>14}{:>12}{:>10.3f}{:>8.1f} %{:>8.1f} %\n", i, layers[i].name,
               layers[i].cost.flops, layers[i].cost.activation_bytes, layers[i].parameters,
               1e3 * seconds[i], 100 * seconds[i] / Sum(seconds), 100 * costs[i] / Sum(costs));
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Measures the layers of a model and compares with their static costs",
               "measure_blocks");
  app.add_option("--model", options.model, "As --model of train")->capture_default_str();
  app.add_option("--size", options.size, "Height and width of the images")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.add_option("--batch", options.batch, "Batch size")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--classes", options.classes, "Number of classes")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--repeats", options.repeats, "Number of measurements; the smallest is reported")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  if (PrintsHelp(app, argc, argv)) return 0;
  Measure(options);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("measure_blocks", [&] { return torus::tools::Main(argc, argv); });
}
