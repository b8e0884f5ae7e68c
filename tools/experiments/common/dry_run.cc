#include "tools/experiments/common/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

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

// Its data and its initial weights.
bool IsThere(const Training& training, const std::string& data) {
  Training found = training;
  return !FindData(data, found);
}

std::string BytesOf(const std::vector<double>& ranks) {
  std::vector<std::string> texts;
  for (const double bytes : ranks)
    texts.push_back(recipes::FormatBytes(static_cast<uint64_t>(bytes)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Examples of an epoch; none for data whose number depends on the folder.
std::optional<double> ExamplesOf(const recipes::Settings& s) {
  static const std::map<std::string, double> known{
      {"fashion-mnist", 60000}, {"cifar10", 50000}, {"cifar100", 50000},
      {"food101", 75750},       {"rte", 2490},      {"cola", 8551},
      {"sst2", 67349}};
  if (s.data == "text" && s.epoch_size > 0) return static_cast<double>(s.epoch_size);
  const auto found = known.find(s.data);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> StepsOf(const Training& t) {
  const recipes::Settings& s = t.settings;
  const std::optional<double> examples = ExamplesOf(s);
  if (!examples)
    return t.max_steps > 0 ? std::optional(static_cast<double>(t.max_steps)) : std::nullopt;
  const double batches = *examples / static_cast<double>(s.batch_size),
               all = static_cast<double>(s.epochs) *
                     (s.drop_last ? std::floor(batches) : std::ceil(batches));
  return t.max_steps > 0 ? std::min(all, static_cast<double>(t.max_steps)) : all;
}

Cell Or(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

// What the plan says of one training.
struct Planned {
  std::vector<Cell> row;
  bool there = true;  // its data are
  std::optional<double> hours;
};

Planned PlannedOf(const Training& t, const Forecast& f, bool there, int seeds) {
  const recipes::Settings& s = t.settings;
  const std::optional<double> steps = StepsOf(t);
  Planned planned{.there = there};
  if (steps) planned.hours = *steps * f.step_seconds * (t.starts_others ? 1 : seeds) / 3600;
  planned.row = {t.name,
                 fmt::format("{} on {}{}", s.model, s.data, there ? "" : " (no data)"),
                 1e3 * f.step_seconds,
                 Or(steps),
                 Or(planned.hours),
                 static_cast<double>(s.batch_size) / f.step_seconds,
                 static_cast<double>(s.batch_size),
                 fmt::format("{} x {}", f.rank_bytes.size(), s.replicas),
                 fmt::format("{}", fmt::join(f.cuts, ", ")),
                 s.codec,
                 1e-6 * f.parameters,
                 BytesOf(f.rank_bytes),
                 recipes::FormatBytes(static_cast<uint64_t>(f.boundary_bytes)),
                 100 * f.bubble};
  return planned;
}

study::Table EmptyPlan(const Machine& machine) {
  return {
      fmt::format("What would run, on {}", machine.name),
      {{"run"},
       {"model and data"},
       {"step", "ms", 1},
       {"steps", "", 0},
       {"all seeds", "h", 2},
       {"samples a second", "", 1},
       {"batch", "", 0},
       {"ranks of a pipeline x replicas"},
       {"first layers of the other stages"},
       {"codec"},
       {"parameters", "M"},
       {"memory of the ranks"},
       {"over the cuts, one way"},
       {"bubble", "%", 1}},
      "Times are simulated from counted operations and bytes, not measured; evaluations are not "
      "counted. A row without data would be skipped."};
}

std::vector<study::Part> Plan(const std::vector<Training>& trainings, const Options& options,
                              const Machine& machine) {
  study::Table table = EmptyPlan(machine);
  double hours = 0;
  int unknown = 0, skipped = 0;
  for (const Training& training : trainings) {
    const auto form = FormOf(training, options.data);
    if (!form) {
      std::vector<Cell> row(14);
      row[0] = training.name;
      row[1] = fmt::format("{} on {} (no data)", training.settings.model, training.settings.data);
      table.Add(row);
      ++skipped;
      continue;
    }
    const Planned planned = PlannedOf(training, ForecastOf(training, *form, machine),
                                      IsThere(training, options.data), options.seeds);
    table.Add(planned.row);
    if (!planned.there) ++skipped;
    if (planned.there && planned.hours) hours += *planned.hours;
    if (planned.there && !planned.hours) ++unknown;
  }
  std::string total = fmt::format("Altogether {:.3g} hours", hours);
  if (unknown > 0) total += fmt::format(", without {} rows of unknown length", unknown);
  if (skipped > 0) total += fmt::format("; {} rows have no data and would be skipped", skipped);
  return {study::Heading{"Plan"}, study::Paragraph{total + "."}, table};
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
      .parts = Plan(trainings, options, machine)};
}

}  // namespace torus::experiments
