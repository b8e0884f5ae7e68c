#include "tools/train/describe.h"

#include <fmt/format.h>

#include "models/nn/describe.h"
#include "parallel/schedule/factory.h"
#include "parallel/schedule/printer.h"
#include "parallel/schedule/simulator.h"

namespace torus::tools {
namespace {

std::string DescribeStages(const std::vector<parallel::Block>& blocks, const parallel::Cuts& cuts) {
  double all = 0;
  for (const parallel::Block& block : blocks) all += block.cost;
  std::string text;
  int begin = 0;
  for (size_t s = 0; s <= cuts.size(); ++s) {
    const int end = s < cuts.size() ? cuts[s] : static_cast<int>(blocks.size());
    double cost = 0;
    for (int i = begin; i < end; ++i) cost += blocks[i].cost;
    text += fmt::format("stage {}: layers {} to {}, {:.1f} % of the static cost\n", s, begin,
                        end - 1, 100 * cost / all);
    begin = end;
  }
  return text;
}

}  // namespace

std::string DescribeRun(const Task& task, const Settings& settings, const parallel::Cuts& cuts) {
  const parallel::Schedule schedule =
      parallel::MakeSchedule(settings.schedule, static_cast<int>(settings.stages),
                             static_cast<int>(settings.micro_batches));
  const auto model = task.Model();
  const Shape input = task.LargestInputs().front().shape;
  return fmt::format(
      "{}, a micro-batch of {} as {}\n\n{}\n{}\nschedule {}, bubble {:.1f} % with equal stages\n{}",
      task.title(), input[0], ToString(input), nn::ToTable(nn::Describe(*model, input)),
      DescribeStages(task.Blocks(), cuts), schedule.name, 100 * parallel::Simulate(schedule).bubble,
      parallel::Staircase(schedule));
}

}  // namespace torus::tools
