#include "tools/experiments/common/cells.h"

#include <fmt/format.h>

#include <map>

#include "recipes/study/run_study.h"
#include "recipes/study/statistics.h"

namespace torus::experiments {
namespace {

using study::Cell;
using study::FinishedRun;

const FinishedRun* RunOf(const Runs& runs, const std::string& name, uint64_t seed) {
  for (const FinishedRun& run : runs)
    if (run.run.name == name && run.run.seed == seed) return &run;
  return nullptr;
}

// Results stored before "diverged" existed have null for a non-finite loss.
bool HasDiverged(const nlohmann::json& result, const std::string& key) {
  const auto is_null = [&](const std::string& figure) {
    return result.contains(figure) && !result.at(figure).is_number();
  };
  return result.value("diverged", false) || is_null("loss") || is_null(key);
}

bool LacksSignal(const Runs& runs, const FinishedRun& run, const std::string& signal) {
  if (run.result.value("no_signal", false)) return true;
  const FinishedRun* const leans_on = RunOf(runs, signal, run.run.seed);
  return leans_on != nullptr && !leans_on->result.value("signal", true);
}

// A score of one name, by seed.
struct Scores {
  std::map<uint64_t, double> counted;
  std::vector<double> without_signal;  // measured all the same
  int seeds = 0, no_signal = 0, diverged = 0;
};

Scores ScoresOf(const Runs& runs, const std::string& name, const std::string& signal,
                const std::string& key) {
  Scores scores;
  for (const FinishedRun& run : runs) {
    if (run.run.name != name) continue;
    ++scores.seeds;
    const bool lacks = LacksSignal(runs, run, signal);
    if (HasDiverged(run.result, key) && (name == signal || !lacks)) {
      ++scores.diverged;
      continue;
    }
    if (lacks) ++scores.no_signal;
    if (!run.result.contains(key) || !run.result.at(key).is_number()) continue;
    const double value = run.result.at(key).get<double>();
    if (lacks)
      scores.without_signal.push_back(value);
    else
      scores.counted.emplace(run.run.seed, value);
  }
  return scores;
}

std::vector<double> ValuesOf(const std::map<uint64_t, double>& by_seed) {
  std::vector<double> values;
  for (const auto& [seed, value] : by_seed) values.push_back(value);
  return values;
}

// ", diverged in 1 of 3".
std::string LeftOut(const char* why, int count, int seeds) {
  return count == 0 ? "" : fmt::format(", {} in {} of {}", why, count, seeds);
}

// a - b of the seeds that have both.
std::optional<study::Difference> PairedOf(const Scores& a, const Scores& b) {
  std::vector<double> ours, theirs;
  for (const auto& [seed, value] : a.counted)
    if (const auto found = b.counted.find(seed); found != b.counted.end()) {
      ours.push_back(value);
      theirs.push_back(found->second);
    }
  if (ours.empty()) return std::nullopt;
  return study::PairedDifference(ours, theirs);
}

}  // namespace

std::vector<double> FiguresOf(const Runs& runs, const std::string& name, const std::string& key,
                              double factor) {
  std::vector<double> values;
  for (const FinishedRun& run : runs)
    if (run.run.name == name && run.result.contains(key) && run.result.at(key).is_number())
      values.push_back(factor * run.result.at(key).get<double>());
  return values;
}

Cell TimeCell(const Runs& runs, const std::string& name, const std::string& key, double factor) {
  const std::vector<double> values = FiguresOf(runs, name, key, factor);
  return values.empty() ? Cell(std::string("no data")) : Cell(study::Summarize(values));
}

Cell RelativeCell(const Runs& runs, const std::string& name, const std::string& first,
                  const std::string& key) {
  const auto number = [&](const FinishedRun* run) -> std::optional<double> {
    if (run == nullptr || !run->result.contains(key) || !run->result.at(key).is_number()) return {};
    return run->result.at(key).get<double>();
  };
  std::vector<double> ratios;
  for (const FinishedRun& run : runs) {
    if (run.run.name != name) continue;
    const auto ours = number(&run), base = number(RunOf(runs, first, run.run.seed));
    if (ours && base) ratios.push_back(*ours / *base);
  }
  return ratios.empty() ? Cell() : Cell(study::Summarize(ratios));
}

Cell ScoreCell(const Runs& runs, const std::string& name, const std::string& signal,
               const std::string& key) {
  const Scores scores = ScoresOf(runs, name, signal, key);
  if (scores.seeds == 0) return std::string("no data");
  if (scores.diverged == scores.seeds) return std::string("diverged");
  if (scores.no_signal == scores.seeds)
    return scores.without_signal.empty()
               ? std::string("no signal")
               : fmt::format("no signal ({:.2f})", study::Mean(scores.without_signal));
  const std::vector<double> values = ValuesOf(scores.counted);
  if (std::ssize(values) == scores.seeds) return study::Summarize(values);
  const std::string why = LeftOut("diverged", scores.diverged, scores.seeds) +
                          LeftOut("no signal", scores.no_signal, scores.seeds);
  if (values.empty()) return why.empty() ? std::string("no data") : why.substr(2);
  return study::TextOf(study::Summarize(values), {.name = key, .decimals = 3}) + why;
}

Cell DifferenceCell(const Runs& runs, const std::string& name, const std::string& other,
                    const std::string& signal, const std::string& key, int decimals) {
  if (name == other) return {};
  const Scores ours = ScoresOf(runs, name, signal, key);
  const auto d = PairedOf(ours, ScoresOf(runs, other, signal, key));
  if (!d) return {};
  std::string text = fmt::format("{:+.{}f}", d->mean, decimals);
  if (d->count > 1)
    text += fmt::format(" [{:+.{}f}, {:+.{}f}]", d->low, decimals, d->high, decimals);
  if (d->count < ours.seeds) text += fmt::format(", {} of {} seeds", d->count, ours.seeds);
  return text;
}

Cell WorseCell(const Runs& runs, const std::string& name, const std::string& other,
               const std::string& signal, const std::string& key, bool less_is_better) {
  const Scores ours = ScoresOf(runs, name, signal, key),
               theirs = ScoresOf(runs, other, signal, key);
  const auto difference = PairedOf(ours, theirs);
  if (ours.diverged == theirs.diverged && !difference) return {};
  if (ours.diverged != theirs.diverged)
    return std::string(ours.diverged > theirs.diverged ? "worse" : "not worse");
  if (less_is_better ? difference->mean <= 0 : difference->mean >= 0)
    return std::string("not worse");
  const bool unsure = difference->count > 1 && difference->low <= 0 && difference->high >= 0;
  return std::string(unsure ? "worse, within the interval" : "worse");
}

Cell NumberCell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

}  // namespace torus::experiments
