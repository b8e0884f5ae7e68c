#include "parallel/schedule/comparison.h"

#include <algorithm>

#include "parallel/schedule/factory.h"
#include "parallel/schedule/verifier.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// Entry s of the result is that of the rank that runs stage s, divided among the rank's stages if
// `of_work`.
std::vector<double> Spread(const std::vector<double>& list, const std::vector<int>& owners,
                           bool of_work) {
  std::vector<double> spread;
  if (list.empty()) return spread;
  for (const int rank : owners) {
    const auto stages = static_cast<double>(std::ranges::count(owners, rank));
    spread.push_back(list[rank] / (of_work ? stages : 1));
  }
  return spread;
}

}  // namespace

CostModel StageCosts(const Pipeline& pipeline, const Schedule& schedule) {
  const std::vector<int> owners = StageOwners(schedule);
  CostModel costs = pipeline.costs;
  for (const CostList& kind : kCostLists)
    costs.*kind.list = Spread(costs.*kind.list, owners, kind.of_work);
  return costs;
}

ScheduleFigures FiguresOf(const std::string& name, const Pipeline& pipeline, int chunks) {
  const Schedule schedule = MakeSchedule(
      name, {.ranks = pipeline.ranks, .micro_batches = pipeline.micro_batches, .chunks = chunks});
  const Simulation simulation = Simulate(schedule, StageCosts(pipeline, schedule));
  ScheduleFigures figures{.name = name,
                          .chunks = chunks,
                          .seconds = simulation.makespan,
                          .bubble = simulation.bubble,
                          .in_flight = std::ranges::max(Verify(schedule).rank_in_flight),
                          .peak_bytes = std::ranges::max(simulation.peak_bytes)};
  for (const auto& [link, bytes] : simulation.sent_bytes) figures.sent_bytes += bytes;
  return figures;
}

int ChunksOf(const std::string& schedule, const Pipeline& pipeline) {
  return StagesARank(schedule, pipeline.chunks);
}

std::vector<ScheduleFigures> CompareSchedules(const Pipeline& pipeline) {
  std::vector<ScheduleFigures> all;
  for (const std::string& name : ScheduleNames())
    all.push_back(FiguresOf(name, pipeline, ChunksOf(name, pipeline)));
  return all;
}

std::string ToTable(const std::vector<ScheduleFigures>& all) {
  std::string text =
      fmt::format("{:<14} {:>6} {:>12} {:>8} {:>9} {:>12} {:>12}\n", "schedule", "chunks",
                  "seconds", "bubble", "in flight", "peak MiB", "sent MiB");
  for (const ScheduleFigures& f : all)
    text += fmt::format("{:<14} {:>6} {:>12.6g} {:>6.1f} % {:>9} {:>12.1f} {:>12.1f}\n", f.name,
                        f.chunks, f.seconds, 100 * f.bubble, f.in_flight, f.peak_bytes / 0x1p20,
                        f.sent_bytes / 0x1p20);
  return text;
}

}  // namespace torus::parallel
