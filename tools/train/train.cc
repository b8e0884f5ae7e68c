#include "tools/train/train.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "recipes/blocks/choose_cuts.h"
#include "recipes/blocks/describe.h"
#include "recipes/data/task_data.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/summary.h"
#include "runtime/error.h"
#include "tools/common/run_main.h"
#include "tools/train/invocation.h"
#include "tools/train/processes.h"
#include "tools/train/run_screen.h"
#include "tools/train/stop_signal.h"

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

int Train(const Invocation& invocation) {
  RunScreen screen;
  CatchStopSignals();
  const auto world = WorldOf(invocation);
  const recipes::RunResult result = recipes::Run(invocation, screen.Callbacks(), world.get());
  if (!IsFirstProcess()) return result.finished ? 0 : StoppedStatus();
  screen.Print(fmt::format("\n{}report          {}{}", recipes::ToText(result.summary),
                           recipes::RunFolder{result.folder}.report(),
                           result.model.empty() ? "" : "\nmodel           " + result.model));
  if (result.finished) return 0;
  screen.Print(
      fmt::format("stopped after step {}; go on with: ./bazelw run //tools:train -- --resume {}",
                  result.step, result.folder));
  return StoppedStatus();
}

int EvaluateOnly(const Invocation& invocation) {
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
  CheckAndComplete(invocation);
  return stored;
}

int Main(int argc, const char* const* argv) {
  Invocation invocation = ParseInvocation(argc, argv);
  const std::optional<recipes::StoredRun> stored = Complete(invocation);
  const bool trains = invocation.help.empty() && !invocation.describe;
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
