#include "tools/experiments/common/forecast.h"

#include <numeric>

#include "models/nn/describe.h"
#include "parallel/codec/codec_choice.h"
#include "parallel/codec/make_codec.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/simulator.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/blocks/choose_cuts.h"
#include "recipes/blocks/cut_bytes.h"
#include "recipes/run/check_options.h"

namespace torus::experiments {
namespace {

using Layers = std::vector<nn::LayerSummary>;

// How many tensors as large as the weights there are: the weights, their gradients, and the
// optimizer's state.
double Copies(const recipes::Settings& s) {
  return s.optimizer != "sgd" ? 4 : s.momentum > 0 ? 3 : 2;
}

double ForwardSeconds(const nn::LayerCost& cost, const Machine& machine) {
  return static_cast<double>(cost.flops) / machine.flops +
         2 * static_cast<double>(cost.activation_bytes) / machine.memory;
}

// What each cut sends with its own codec.
void EncodeCuts(const recipes::Settings& s, const Layers& layers, const std::vector<int>& cuts,
                parallel::CostModel& blocks) {
  const auto choice = parallel::ParseCodecChoice("--codec", s.codec, static_cast<int>(s.stages));
  for (size_t i = 0; i < cuts.size(); ++i) {
    const size_t last = static_cast<size_t>(cuts[i]) - 1;
    const auto codec = parallel::MakeCodec(choice.Of(static_cast<int>(i) + 1));
    blocks.boundary_bytes[last] =
        recipes::CutBytes(layers[last].cost, codec->is_identity() ? nullptr : codec.get());
  }
}

// A step of `rounds` rounds of the schedule, with the all-reduce and the optimizer's step in the
// last.
double StepSeconds(const parallel::Schedule& schedule, parallel::CostModel costs, double last,
                   int64_t rounds) {
  if (rounds == 1) return last;
  costs.reduce.clear();
  costs.step.clear();
  return last + static_cast<double>(rounds - 1) * parallel::Simulate(schedule, costs).makespan;
}

parallel::CostModel BlocksOf(const recipes::Settings& s, const Layers& layers,
                             const Machine& machine) {
  const double replicas = static_cast<double>(s.replicas),
               share = 1.0 / static_cast<double>(s.tensor);
  parallel::CostModel costs;
  for (const nn::LayerSummary& layer : layers) {
    const double forward = share * ForwardSeconds(layer.cost, machine);
    const double weights = share * sizeof(float) * static_cast<double>(layer.parameters);
    costs.forward.push_back(forward);
    costs.backward.push_back(2 * forward);
    costs.reduce.push_back(2 * (replicas - 1) / replicas * weights / machine.network);
    costs.step.push_back(2 * Copies(s) * weights / machine.memory);
    costs.boundary_bytes.push_back(static_cast<double>(layer.cost.output_bytes));
    costs.state_bytes.push_back(Copies(s) * weights);
    costs.activation_bytes.push_back(static_cast<double>(layer.cost.activation_bytes));
  }
  return costs;
}

}  // namespace

Machine V100() { return {"a V100 a rank", 15.7e12 / 2, 900e9, 10e9 / 8}; }
Machine Core() { return {"a core a rank", 80e9, 10e9, 5e9}; }

Forecast ForecastOf(const Training& training, const recipes::DataForm& form,
                    const Machine& machine) {
  recipes::RunOptions options{.settings = training.settings};
  options.settings.links = training.links;
  options.settings.device = "cpu";  // the machine that is meant need not be this one
  const recipes::Settings s = recipes::CheckedOptions(std::move(options)).settings;
  const Layers layers = recipes::DescribeLayers(s, form);
  const std::vector<int> cuts = recipes::ChooseCuts(s, form).cuts;
  parallel::CostModel blocks = BlocksOf(s, layers, machine);
  EncodeCuts(s, layers, cuts, blocks);
  parallel::CostModel costs = parallel::JoinBlocks(blocks, cuts);
  costs.links = parallel::ParseLinks(training.links);
  const parallel::Schedule schedule = parallel::MakeSchedule(s.schedule, recipes::PipelineOf(s));
  const parallel::Simulation run = parallel::Simulate(schedule, costs);
  Forecast forecast{.cuts = cuts,
                    .rank_bytes = run.peak_bytes,
                    .step_seconds = StepSeconds(schedule, costs, run.makespan, s.accumulate),
                    .bubble = run.bubble};
  for (const nn::LayerSummary& layer : layers)
    forecast.parameters += static_cast<double>(layer.parameters);
  for (const int cut : cuts) forecast.boundary_bytes += blocks.boundary_bytes[cut - 1];
  return forecast;
}

}  // namespace torus::experiments
