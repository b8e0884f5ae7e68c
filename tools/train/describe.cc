#include "tools/train/describe.h"

#include <fmt/format.h>

#include "models/nn/describe.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/simulator.h"
#include "tools/train/model_spec.h"
#include "tools/train/run_blocks.h"

namespace torus::tools {
namespace {

std::string DescribeStages(const std::vector<nn::LayerSummary>& layers,
                           const parallel::Cuts& cuts) {
  double all = 0;
  for (const nn::LayerSummary& layer : layers) all += nn::StaticCost(layer.cost);
  std::string text;
  int begin = 0;
  for (size_t s = 0; s <= cuts.size(); ++s) {
    const int end = s < cuts.size() ? cuts[s] : static_cast<int>(layers.size());
    double cost = 0;
    for (int i = begin; i < end; ++i) cost += nn::StaticCost(layers[i].cost);
    text += fmt::format("stage {}: layers {} to {}, {:.1f} % of the static cost\n", s, begin,
                        end - 1, 100 * cost / all);
    begin = end;
  }
  return text;
}

}  // namespace

std::string DescribeRun(const Settings& settings, const DataForm& form,
                        const parallel::Cuts& cuts) {
  const parallel::Schedule schedule =
      parallel::MakeSchedule(settings.schedule, static_cast<int>(settings.stages),
                             static_cast<int>(settings.micro_batches));
  const Shape input = form.inputs(LargestMicroBatch(settings)).front().shape;
  const std::vector<nn::LayerSummary> layers = DescribeLayers(settings, form);
  return fmt::format(
      "{}, {}: {} outputs, a micro-batch of {} as {}\n\n{}\n{}\nschedule {}, bubble {:.1f} % with "
      "equal stages\n{}",
      ParseModelSpec(settings.model).title, form.title, form.classes, input[0], ToString(input),
      nn::ToTable(layers), DescribeStages(layers, cuts), schedule.name,
      100 * parallel::Simulate(schedule).bubble, parallel::Staircase(schedule));
}

}  // namespace torus::tools
