#include "tools/train/train.h"

#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recipes/blocks/choose_cuts.h"
#include "recipes/blocks/describe.h"
#include "recipes/data/data_names.h"
#include "recipes/data/data_places.h"
#include "recipes/data/task_data.h"
#include "recipes/model/model_of.h"
#include "recipes/run/find_lr.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/summary.h"
#include "recipes/run/verify_resume.h"
#include "runtime/error.h"
#include "tools/common/limit_memory.h"
#include "tools/common/run_main.h"
#include "tools/common/stop_signal.h"
#include "tools/train/invocation.h"
#include "tools/train/processes.h"
#include "tools/train/resume_hint.h"
#include "tools/train/run_screen.h"

namespace torus::tools {
namespace {

// For a model that is named without data: the form as published.
recipes::DataForm DescribedForm(const Invocation& invocation) {
  const auto given = [&](const char* flag) { return invocation.given.contains(flag); };
  const bool alone = given("--model") && !given("--data") && !given("--data-dir") &&
                     invocation.preset.empty() && invocation.resume.empty();
  return alone ? recipes::PublishedForm(invocation.settings, given)
               : recipes::FormOfData(invocation.settings);
}

std::unique_ptr<parallel::World> WorldOf(const Invocation& invocation) {
  return StartedWorld(recipes::RanksOf(invocation.settings), invocation.timeout);
}

// The status of a run that a signal ended; 0 for a process that did not receive the signal.
int StoppedStatus() { return StopSignal() == 0 ? 0 : 128 + StopSignal(); }

// That of the default data would blame a flag that nobody gave.
void RequireData(const Invocation& invocation) {
  const recipes::Settings& s = invocation.settings;
  const auto given = [&](const char* flag) { return invocation.given.contains(flag); };
  const std::string wanted = recipes::LearnsFrom(recipes::ModelOf(s).task);
  if (!given("--model") || given("--data") || !invocation.preset.empty() ||
      !invocation.resume.empty() || wanted == recipes::DataKind(s.data))
    return;
  std::vector<std::string> fitting = recipes::DataNames();
  std::erase_if(fitting, [&](const auto& name) { return recipes::DataKind(name) != wanted; });
  Throw<BadInput>("train", "--model {} learns from {}, and --data is not given: one of {}", s.model,
                  wanted, fmt::join(fitting, ", "));
}

int Train(const Invocation& invocation) {
  RequireData(invocation);
  RunScreen screen;
  CatchStopSignals();
  const auto world = WorldOf(invocation);
  const recipes::RunResult result = recipes::Run(invocation, screen.Callbacks(), world.get());
  if (!IsFirstProcess()) return result.finished ? 0 : StoppedStatus();
  screen.Print(fmt::format("\n{}report          {}{}", recipes::SummaryText(result),
                           recipes::RunFolder{result.folder}.report(),
                           result.model.empty() ? "" : "\nmodel           " + result.model));
  if (result.finished) return 0;
  screen.Print(fmt::format("stopped after step {}; go on with: {}", result.step,
                           ResumeCommand(invocation.program, result.folder)));
  return StoppedStatus();
}

int VerifyResume(const Invocation& invocation) {
  RunScreen screen;
  CatchStopSignals();
  const auto world = WorldOf(invocation);
  const recipes::ResumeCheck check =
      recipes::VerifyResume(invocation, invocation.verify_resume, screen.Callbacks(), world.get());
  if (!check.finished) return StoppedStatus();
  if (IsFirstProcess()) screen.Print(recipes::ToText(check));
  return check.different == 0 ? 0 : 1;
}

int FindLearningRate(const Invocation& invocation) {
  RequireData(invocation);
  RunScreen screen;
  CatchStopSignals();
  const auto world = WorldOf(invocation);
  const recipes::RateSearch search =
      recipes::FindLearningRate(invocation, screen.Callbacks(), world.get());
  if (IsFirstProcess()) screen.Print(recipes::ToText(search));
  return search.finished ? 0 : StoppedStatus();
}

int EvaluateOnly(const Invocation& invocation) {
  RequireData(invocation);
  RunScreen screen;
  CatchStopSignals();
  const auto world = WorldOf(invocation);
  return recipes::EvaluateRun(invocation, screen.Callbacks(), world.get()) ? 0 : StoppedStatus();
}

void Describe(const Invocation& invocation, const std::optional<recipes::StoredRun>& stored) {
  const recipes::DataForm form = DescribedForm(invocation);
  const recipes::CutChoice choice =
      stored && recipes::CutAlike(invocation.settings, stored->settings)
          ? stored->cuts
          : recipes::ChooseCuts(invocation.settings, form,
                                {invocation.schedule, invocation.rank_memory});
  fmt::print("{}", recipes::DescribeRun(invocation.settings, form, choice.cuts));
  if (choice.predicted) fmt::print("predicted: {}\n", recipes::ToText(*choice.predicted));
}

// Completes the invocation; if a run is resumed, takes over its settings.
std::optional<recipes::StoredRun> Complete(Invocation& invocation) {
  std::optional<recipes::StoredRun> stored;
  if (!invocation.help.empty()) return stored;
  if (!invocation.resume.empty()) {
    stored = recipes::LoadStored(invocation.resume);
    TakeSettings(stored->settings, invocation.resume, invocation);
  }
  recipes::UseCommonFolder(invocation.settings);
  CheckAndComplete(invocation);
  return stored;
}

int Main(int argc, const char* const* argv) {
  Invocation invocation = ParseInvocation(argc, argv);
  const std::optional<recipes::StoredRun> stored = Complete(invocation);
  const bool trains = invocation.help.empty() && !invocation.describe;
  if (trains) LimitMemory(invocation.memory_limit);
  if (trains && invocation.find_lr) return FindLearningRate(invocation);
  if (trains && invocation.verify_resume > 0) return VerifyResume(invocation);
  if (trains) return invocation.eval_only ? EvaluateOnly(invocation) : Train(invocation);
  if (!IsFirstProcess()) return 0;
  if (invocation.help.empty())
    Describe(invocation, stored);
  else
    fmt::print("{}", invocation.help);
  return 0;
}

// A mistake that all processes find before they communicate is reported only once.
int MainOfOne(int argc, const char* const* argv) try {
  return Main(argc, argv);
} catch (const BadInput&) {
  if (IsFirstProcess()) throw;
  return 2;
}

}  // namespace

int TrainMain(int argc, const char* const* argv) {
  return RunMain("train", [&] { return MainOfOne(argc, argv); });
}

}  // namespace torus::tools
