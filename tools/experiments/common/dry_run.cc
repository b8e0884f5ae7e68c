#include "tools/experiments/common/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "recipes/data/task_data.h"
#include "recipes/report/units.h"
#include "recipes/study/run_study.h"
#include "tools/experiments/common/data_places.h"
#include "tools/experiments/common/forecast.h"

namespace torus::experiments {
namespace {

using study::Cell;

// None if it depends on data that are not available. Weights are not needed.
std::optional<recipes::DataForm> FormOf(const Training& training, const std::string& data) {
  Training found = training;
  found.weights.clear();
  const bool there = !FindData(data, found);
  if (auto known = recipes::KnownForm(found.settings)) return known;
  if (!there) return std::nullopt;
  return recipes::FormOfData(found.settings);
}

std::string BytesOf(const std::vector<double>& ranks) {
  std::vector<std::string> texts;
  for (const double bytes : ranks)
    texts.push_back(recipes::FormatBytes(static_cast<uint64_t>(bytes)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<Cell> RowOf(const Training& t, const Forecast& f) {
  const recipes::Settings& s = t.settings;
  return {t.name,
          fmt::format("{} on {}", s.model, s.data),
          fmt::format("{} x {}", f.rank_bytes.size(), s.replicas),
          static_cast<double>(s.batch_size),
          fmt::format("{}", fmt::join(f.cuts, ", ")),
          s.codec,
          1e-6 * f.parameters,
          BytesOf(f.rank_bytes),
          recipes::FormatBytes(static_cast<uint64_t>(f.boundary_bytes)),
          100 * f.bubble,
          1e3 * f.step_seconds,
          static_cast<double>(s.batch_size) / f.step_seconds};
}

study::Table Plan(const std::vector<Training>& trainings, const Options& options,
                  const Machine& machine) {
  study::Table table(fmt::format("What would run, on {}", machine.name),
                     {{"run"},
                      {"model and data"},
                      {"ranks of a pipeline x replicas"},
                      {"batch", "", 0},
                      {"first layers of the other stages"},
                      {"codec"},
                      {"parameters", "M"},
                      {"memory of the ranks"},
                      {"over the cuts, one way"},
                      {"bubble", "%", 1},
                      {"step", "ms", 1},
                      {"samples a second", "", 1}},
                     "Times are simulated from counted operations and bytes, not measured.");
  for (const Training& training : trainings)
    if (const auto form = FormOf(training, options.data))
      table.Add(RowOf(training, ForecastOf(training, *form, machine)));
    else
      table.Add({training.name,
                 fmt::format("{} on {}: its data are not at hand", training.settings.model,
                             training.settings.data),
                 {},
                 {},
                 {},
                 {},
                 {},
                 {},
                 {},
                 {},
                 {},
                 {}});
  return table;
}

}  // namespace

study::Page DryRun(const Experiment& experiment, const Options& options,
                   const std::vector<Training>& trainings) {
  if (trainings.empty()) return experiment.page(options.scale, {});
  const Machine machine = options.scale == Scale::kPaper ? V100() : Core();
  return {
      .title = fmt::format("{}: the plan at scale {}", experiment.name, NameOf(options.scale)),
      .lead = fmt::format("{} Each row runs with seeds 1 to {}, in turn; weights with which others "
                          "start are trained with seed 1 alone.",
                          experiment.about, options.seeds),
      .parts = {study::Heading{"Plan"}, Plan(trainings, options, machine)}};
}

}  // namespace torus::experiments
