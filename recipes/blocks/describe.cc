#include "recipes/blocks/describe.h"

#include <fmt/format.h>

#include <numeric>

#include "models/nn/describe.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/simulator.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/model/model_of.h"

namespace torus::recipes {
namespace {

// Static costs of the stages.
std::vector<double> StageCosts(const std::vector<nn::LayerSummary>& layers,
                               const parallel::Cuts& cuts) {
  std::vector<double> costs(cuts.size() + 1);
  size_t stage = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    if (stage < cuts.size() && static_cast<int>(i) == cuts[stage]) ++stage;
    costs[stage] += nn::StaticCost(layers[i].cost);
  }
  return costs;
}

std::string DescribeStages(const std::vector<double>& costs, const parallel::Cuts& cuts,
                           int layers) {
  const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
  std::string text;
  for (size_t s = 0; s < costs.size(); ++s)
    text += fmt::format("stage {}: layers {} to {}, {:.1f} % of the static cost\n", s,
                        s == 0 ? 0 : cuts[s - 1], (s < cuts.size() ? cuts[s] : layers) - 1,
                        100 * costs[s] / all);
  return text;
}

// A static cost includes both directions; a backward has twice the arithmetic of its forward.
parallel::CostModel CostsOf(const std::vector<double>& stages) {
  parallel::CostModel costs;
  for (const double cost : stages) {
    costs.forward.push_back(cost / 3);
    costs.backward.push_back(cost * 2 / 3);
  }
  return costs;
}

std::string DescribeReplicas(const Settings& s) {
  return s.replicas == 1 ? "" : fmt::format("{} replicas, strategy {}\n", s.replicas, s.strategy);
}

std::string DescribeSchedule(const parallel::Schedule& schedule,
                             const std::vector<double>& stages) {
  return fmt::format(
      "schedule {}, bubble {:.1f} % with equal stages, {:.1f} % with the static costs of these\n{}",
      schedule.name,
      100 * parallel::Simulate(schedule, parallel::EqualStages(schedule.num_stages)).bubble,
      100 * parallel::Simulate(schedule, CostsOf(stages)).bubble, parallel::Staircase(schedule));
}

}  // namespace

std::string DescribeRun(const Settings& settings, const DataForm& form,
                        const parallel::Cuts& cuts) {
  const parallel::Schedule schedule =
      parallel::MakeSchedule(settings.schedule, PipelineOf(settings));
  const Shape input = form.inputs(LargestMicroBatch(settings)).front().shape;
  const std::vector<nn::LayerSummary> layers = DescribeLayers(settings, form);
  const std::vector<double> costs = StageCosts(layers, cuts);
  return fmt::format("{}, {}: {} outputs, a micro-batch of {} as {}\n\n{}\n{}\n{}{}",
                     ModelOf(settings).title, form.title, form.classes, input[0], ToString(input),
                     nn::ToTable(layers),
                     DescribeStages(costs, cuts, static_cast<int>(layers.size())),
                     DescribeReplicas(settings), DescribeSchedule(schedule, costs));
}

}  // namespace torus::recipes
