#include "tools/experiments/common/experiment_main.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "recipes/study/run_study.h"
#include "tools/common/run_main.h"
#include "tools/common/stop_signal.h"
#include "tools/experiments/common/carry_out.h"
#include "tools/experiments/common/data_places.h"
#include "tools/experiments/common/dry_run.h"

namespace torus::experiments {
namespace {

void Tell(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

// The trainings whose data are available. Names the others, so that nobody takes an incomplete
// table for a complete one.
std::vector<study::PlannedRun> WithData(const std::vector<Training>& trainings,
                                        const Options& options) {
  std::vector<study::PlannedRun> there;
  for (const Training& training : trainings) {
    Training found = training;
    if (const auto missing = FindData(options.data, found))
      Tell(fmt::format("*** SKIPPED: {}: {}", training.name, *missing));
    else
      there.push_back(ToPlanned(training));
  }
  return there;
}

// Gives each run that starts from another the settings of that one too, so that its result does not
// count as done when those have changed.
void AddStarts(std::vector<study::PlannedRun>& planned) {
  std::map<std::string, nlohmann::json> settings;
  for (study::PlannedRun& run : planned) {
    const std::string start = FromPlanned(run).starts_from;
    if (!start.empty()) run.settings["start"] = settings.at(start);
    settings[run.name] = run.settings;
  }
}

// All seeds of each run, but only one of a run from which others start.
std::vector<study::PlannedRun> WithSeeds(const std::vector<study::PlannedRun>& planned, int seeds) {
  std::vector<study::PlannedRun> all = study::SeedsInTurn(planned, seeds);
  std::erase_if(all, [](const study::PlannedRun& run) {
    return run.seed > 1 && FromPlanned(run).starts_others;
  });
  return all;
}

std::vector<study::FinishedRun> Results(const std::vector<Training>& trainings,
                                        const Options& options) {
  std::vector<study::PlannedRun> planned = WithData(trainings, options);
  if (planned.empty()) return {};
  AddStarts(planned);
  study::RunStore store(options.out + "/results");
  CarryOut carry_out(options, Tell, [] { return tools::StopSignal() != 0; });
  return RunMissing(
      store, WithSeeds(planned, options.seeds),
      [&](const auto& run, const auto& done) { return carry_out(run, done); }, Tell);
}

int Show(const study::Page& page, const Options& options, const std::string& name) {
  Tell(fmt::format("\n{}", ToText(page)));
  Tell(study::WritePage(page, options.out, name));
  return 0;
}

// Of runs that are missing the page says that they were not run.
int ShowSoFar(const Experiment& experiment, const Options& options,
              const std::vector<study::FinishedRun>& results) {
  Tell("stopped; the same command goes on with what is missing");
  if (!results.empty()) {
    study::Page page = experiment.page(options.scale, results);
    page.title += ", so far";
    page.lead += " Stopped before its end.";
    Tell("so far: " + study::WritePageSoFar(page, options.out, experiment.name));
  }
  return 128 + tools::StopSignal();
}

int Main(const Experiment& experiment, int argc, const char* const* argv) {
  const Options options =
      ParseOptions(experiment.name, experiment.about, argc, argv, experiment.plan != nullptr);
  if (options.help) return 0;
  const std::vector<Training> trainings =
      experiment.plan ? experiment.plan(options.scale) : std::vector<Training>{};
  if (options.dry_run)
    return Show(DryRun(experiment, options, trainings), options, experiment.name + "_plan");
  tools::CatchStopSignals();
  const std::vector<study::FinishedRun> results = Results(trainings, options);
  if (tools::StopSignal() != 0) return ShowSoFar(experiment, options, results);
  return Show(experiment.page(options.scale, results), options, experiment.name);
}

}  // namespace

int ExperimentMain(const Experiment& experiment, int argc, const char* const* argv) {
  return tools::RunMain(experiment.name.c_str(), [&] { return Main(experiment, argc, argv); });
}

}  // namespace torus::experiments
