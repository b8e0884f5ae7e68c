#include "tools/experiments/common/cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "recipes/study/statistics.h"

namespace torus::experiments {
namespace {

using study::Cell;
using study::FinishedRun;

bool Says(const Runs& runs, const std::string& name, const char* word, bool value) {
  return std::ranges::any_of(runs, [&](const FinishedRun& run) {
    return run.run.name == name && run.result.contains(word) && run.result.at(word) == value;
  });
}

bool IsThere(const Runs& runs, const std::string& name) {
  return std::ranges::any_of(runs, [&](const FinishedRun& run) { return run.run.name == name; });
}

bool HasNoSignal(const Runs& runs, const std::string& name, const std::string& baseline) {
  return Says(runs, name, "no_signal", true) || Says(runs, baseline, "signal", false);
}

std::optional<double> FigureOf(const Runs& runs, const std::string& name, uint64_t seed,
                               const std::string& key) {
  for (const FinishedRun& run : runs)
    if (run.run.name == name && run.run.seed == seed && run.result.contains(key) &&
        run.result.at(key).is_number())
      return run.result.at(key).get<double>();
  return std::nullopt;
}

}  // namespace

std::vector<double> FiguresOf(const Runs& runs, const std::string& name, const std::string& key,
                              double factor) {
  std::vector<double> values;
  for (const FinishedRun& run : runs)
    if (run.run.name == name)
      if (const auto value = FigureOf(runs, name, run.run.seed, key))
        values.push_back(factor * *value);
  return values;
}

Cell TimeCell(const Runs& runs, const std::string& name, const std::string& key, double factor) {
  const std::vector<double> values = FiguresOf(runs, name, key, factor);
  return values.empty() ? Cell(std::string("no data")) : Cell(study::Summarize(values));
}

Cell ScoreCell(const Runs& runs, const std::string& name, const std::string& baseline,
               const std::string& key) {
  if (!IsThere(runs, name)) return std::string("no data");
  const std::vector<double> values = FiguresOf(runs, name, key);
  if (HasNoSignal(runs, name, baseline))
    return values.empty() ? std::string("no signal")
                          : fmt::format("no signal ({:.2f})", study::Mean(values));
  return values.empty() ? Cell(std::string("diverged")) : Cell(study::Summarize(values));
}

Cell DifferenceCell(const Runs& runs, const std::string& name, const std::string& baseline,
                    const std::string& key, int decimals) {
  if (name == baseline || HasNoSignal(runs, name, baseline)) return {};
  std::vector<double> ours, theirs;
  for (const FinishedRun& run : runs) {
    if (run.run.name != name) continue;
    const auto a = FigureOf(runs, name, run.run.seed, key),
               b = FigureOf(runs, baseline, run.run.seed, key);
    if (!a || !b) continue;
    ours.push_back(*a);
    theirs.push_back(*b);
  }
  if (ours.empty()) return {};
  const study::Difference d = study::PairedDifference(ours, theirs);
  if (d.count < 2) return fmt::format("{:+.{}f}", d.mean, decimals);
  return fmt::format("{:+.{}f} [{:+.{}f}, {:+.{}f}]", d.mean, decimals, d.low, decimals, d.high,
                     decimals);
}

Cell NumberCell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

}  // namespace torus::experiments
