// tools/train: the command line around recipes::Run.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "recipes/blocks/choose_cuts.h"
#include "recipes/blocks/describe.h"
#include "recipes/data/task_data.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run.h"
#include "recipes/run/summary.h"
#include "tools/common/run_main.h"
#include "tools/train/invocation.h"
#include "tools/train/progress_line.h"
#include "tools/train/stop_signal.h"

namespace torus::tools {
namespace {

// Of a model that is named alone, without data: as it was published.
recipes::DataForm DescribedForm(const Invocation& invocation) {
  const auto given = [&](const char* flag) { return invocation.given.contains(flag); };
  const bool alone = given("--model") && !given("--data") && !given("--data-dir") &&
                     invocation.preset.empty() && invocation.resume.empty();
  return alone ? recipes::PublishedForm(invocation.settings, given)
               : recipes::FormOfData(invocation.settings);
}

std::string ToText(const recipes::Evaluation& test) {
  const std::string what = test.accuracy ? fmt::format("accuracy {:.2f} %", 100 * *test.accuracy)
                                         : fmt::format("perplexity {:.4f}", std::exp(test.loss));
  return fmt::format("epoch {:.4g}: test {}, loss {:.4f}", test.epoch, what, test.loss);
}

// What a person sees of a run.
class Screen {
 public:
  recipes::RunCallbacks Callbacks() {
    return {.on_start =
                [this](const recipes::RunStart& start) {
                  progress_.emplace(stdout, start.unit, start.begin, start.end);
                },
            .on_step =
                [this](const parallel::StepReport& step) {
                  progress_->Show({step.step, step.loss, step.samples, step.seconds, step.skipped});
                },
            .on_evaluate = [this](const recipes::Evaluation& test) { Print(ToText(test)); },
            .on_message = [this](const std::string& line) { Print(line); },
            .stop = [] { return StopSignal() != 0; }};
  }
  void Print(const std::string& line) {
    if (progress_)
      progress_->Print(line);
    else
      fmt::print("{}\n", line);
  }

 private:
  std::optional<ProgressLine> progress_;
};

int Train(const Invocation& invocation) {
  Screen screen;
  CatchStopSignals();
  const recipes::RunResult result = recipes::Run(invocation, screen.Callbacks());
  screen.Print(fmt::format("\n{}report          {}{}", recipes::ToText(result.summary),
                           recipes::RunFolder{result.folder}.report(),
                           result.model.empty() ? "" : "\nmodel           " + result.model));
  if (result.finished) return 0;
  screen.Print(
      fmt::format("stopped after step {}; go on with: ./bazelw run //tools:train -- --resume {}",
                  result.step, result.folder));
  return 128 + StopSignal();
}

int EvaluateOnly(const Invocation& invocation) {
  Screen screen;
  CatchStopSignals();
  return recipes::EvaluateRun(invocation, screen.Callbacks()) ? 0 : 128 + StopSignal();
}

void Describe(const Invocation& invocation, const std::optional<recipes::StoredRun>& stored) {
  const recipes::DataForm form = DescribedForm(invocation);
  const recipes::CutChoice choice =
      stored && recipes::CutAlike(invocation.settings, stored->settings)
          ? stored->cuts
          : recipes::ChooseCuts(invocation.settings, form);
  fmt::print("{}", recipes::DescribeRun(invocation.settings, form, choice.cuts));
}

int Main(int argc, const char* const* argv) {
  Invocation invocation = ParseInvocation(argc, argv);
  if (!invocation.help.empty()) {
    fmt::print("{}", invocation.help);
    return 0;
  }
  std::optional<recipes::StoredRun> stored;
  if (!invocation.resume.empty()) {
    stored = recipes::LoadStored(invocation.resume);
    TakeSettings(stored->settings, invocation.resume, invocation);
  }
  CheckAndComplete(invocation);
  if (invocation.eval_only) return EvaluateOnly(invocation);
  if (!invocation.describe) return Train(invocation);
  Describe(invocation, stored);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("train", [&] { return torus::tools::Main(argc, argv); });
}
