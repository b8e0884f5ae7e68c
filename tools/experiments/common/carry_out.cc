#include "tools/experiments/common/carry_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>

#include "recipes/evaluate/evaluate.h"
#include "recipes/report/read_trace.h"
#include "recipes/run/run.h"
#include "recipes/run/run_folder.h"
#include "runtime/error.h"
#include "tools/experiments/common/data_places.h"
#include "tools/experiments/common/steady_times.h"

namespace torus::experiments {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

void AddBytes(const Json& summary, Json& figures) {
  const double steps = std::max(1.0, summary.at("steps_here").get<double>());
  double activations = 0, gradients = 0, replicas = 0;
  for (const Json& link : summary.at("links")) {
    const std::string what = link.at("what");
    double& sum = what == "activations" ? activations : what == "gradients" ? gradients : replicas;
    sum += link.at("sent_bytes").get<double>() / steps;
  }
  figures["activation_bytes"] = activations;
  figures["gradient_bytes"] = gradients;
  figures["replica_bytes"] = replicas;
}

Json FiguresOf(const Json& summary, const recipes::RunFolder& folder) {
  const double step = summary.at("step_seconds").get<double>();
  const double batch = summary.at("settings").at("batch-size").get<double>();
  Json figures{{"step_seconds", step},
               {"samples_per_second", step > 0 ? batch / step : 0},
               {"seconds", summary.at("seconds")},
               {"steps", summary.at("steps")}};
  for (const auto& [kind, seconds] : SteadyTimes(recipes::ReadChromeTrace(folder.trace())))
    figures[kind] = seconds;
  AddBytes(summary, figures);
  return figures;
}

// Removes the checkpoints, which are as large as the models, or all but the last one. The other
// files document the run.
void DropCheckpoints(const recipes::RunFolder& folder, bool keep_last) {
  std::error_code ignored;
  for (const std::string& path : {folder.path + "/earlier", folder.best(), folder.model()})
    fs::remove_all(path, ignored);
  if (!keep_last) fs::remove_all(folder.checkpoint(), ignored);
}

// Evaluates the weights without a codec between the stages, since a run does not report counts per
// class. The checkpoint names model and tokenizer.
double MatthewsOf(const Training& training, const recipes::RunFolder& folder) {
  const recipes::Settings& s = training.settings;
  const recipes::EvaluateResult result = recipes::Evaluate({.init = folder.checkpoint(),
                                                            .data = s.data,
                                                            .data_dir = s.data_dir,
                                                            .length = s.length,
                                                            .device = s.device});
  return data::MatthewsCorrelation(result.classes->counts);
}

bool LacksSignal(const std::string& baseline, uint64_t seed,
                 const std::vector<study::FinishedRun>& done) {
  return std::ranges::any_of(done, [&](const study::FinishedRun& run) {
    return run.run.name == baseline && run.run.seed == seed && !run.result.value("signal", true);
  });
}

const study::FinishedRun& Earlier(const std::string& name,
                                  const std::vector<study::FinishedRun>& done) {
  const auto found = std::ranges::find_if(
      done, [&](const study::FinishedRun& run) { return run.run.name == name; });
  TORUS_CHECK(found != done.end() && FromPlanned(found->run).starts_others,
              "{} has not been run before, or keeps no checkpoint", name);
  return *found;
}

recipes::RunOptions OptionsOf(const Training& training, const std::string& folder) {
  constexpr int64_t kNever = int64_t{1} << 40;
  recipes::RunOptions options{.settings = training.settings,
                              .out = folder,
                              .max_steps = training.max_steps,
                              .timeout = 600,
                              .times_gpu_work = training.times_gpu_work};
  options.settings.links = training.links;
  options.eval_every = options.checkpoint_every = kNever;
  return options;
}

}  // namespace

CarryOut::CarryOut(Options options, std::function<void(const std::string&)> tell,
                   std::function<bool()> stop)
    : options_(std::move(options)), tell_(std::move(tell)), stop_(std::move(stop)) {}

std::string CarryOut::FolderOf(const study::PlannedRun& run) const {
  return options_.out + "/runs/" + FileNameOf(run);
}

std::string CarryOut::CheckpointOf(const study::PlannedRun& run) const {
  const std::string checkpoint = recipes::RunFolder{FolderOf(run)}.checkpoint();
  Require(fs::exists(checkpoint), run.name,
          "its checkpoint {} is missing, with which other runs begin; remove {}/results/{}* to "
          "train it again",
          checkpoint, options_.out, FileNameOf(run));
  return checkpoint;
}

const Chance& CarryOut::ChanceFor(const recipes::Settings& s) {
  const std::string key = fmt::format("{} {} {}", s.data, s.tokenizer, s.length);
  const auto known = chances_.find(key);
  return known != chances_.end() ? known->second : chances_.emplace(key, ChanceOf(s)).first->second;
}

void CarryOut::AddScore(const Training& training, const Json& summary, const std::string& folder,
                        Json& figures) {
  const Json& test = summary.at("test");
  if (!test.at("loss").is_number() || !std::isfinite(test.at("loss").get<double>())) {
    figures.update({{"diverged", true}, {"signal", false}});
    return;
  }
  const double loss = test.at("loss");
  std::optional<double> accuracy;
  if (test.contains("accuracy")) accuracy = 100 * test.at("accuracy").get<double>();
  const Chance& chance = ChanceFor(training.settings);
  figures["loss"] = loss;
  if (accuracy) figures["accuracy"] = *accuracy;
  if (chance.majority) figures["majority"] = *chance.majority;
  if (chance.unigrams) figures["unigrams"] = *chance.unigrams;
  if (training.settings.data == "cola") figures["matthews"] = 100 * MatthewsOf(training, {folder});
  figures["signal"] = HasSignal(chance, accuracy, loss);
}

// A run of which only the times count is stopped one step before its end, so that it is never
// scored.
std::optional<Json> CarryOut::Summary(const Training& training, const std::string& folder) {
  recipes::RunOptions options = OptionsOf(training, folder);
  std::atomic<int64_t> steps = 0;
  const auto done = [&] { return !training.score && steps >= training.max_steps; };
  if (!training.score) ++options.max_steps;
  const recipes::RunResult result =
      recipes::Run(options, {.on_step = [&](const parallel::StepReport&) { ++steps; },
                             .stop = [&] { return stop_() || done(); }});
  if (result.finished || done()) return Json::parse(result.summary);
  return std::nullopt;
}

std::optional<Json> CarryOut::operator()(const study::PlannedRun& run,
                                         const std::vector<study::FinishedRun>& done) {
  Training training = FromPlanned(run);
  const auto missing = FindData(options_.data, training);
  Require(!missing, run.name, "{}", missing.value_or(""));
  if (LacksSignal(training.baseline, run.seed, done)) return Json{{"no_signal", true}};
  if (!training.starts_from.empty())
    training.settings.init = CheckpointOf(Earlier(training.starts_from, done).run);
  const std::string folder = FolderOf(run);
  fs::remove_all(folder);
  Json figures;
  try {
    const std::optional<Json> summary = Summary(training, folder);
    if (!summary) return std::nullopt;
    figures = FiguresOf(*summary, {folder});
    if (training.score) AddScore(training, *summary, folder, figures);
  } catch (const parallel::TooManySkipped& error) {
    tell_(error.what());
    figures = {{"diverged", true}, {"signal", false}};
  } catch (const recipes::NoScore& error) {
    tell_(error.what());
    figures = {{"diverged", true}, {"signal", false}};
  }
  DropCheckpoints({folder}, training.starts_others);
  return figures;
}

}  // namespace torus::experiments
