// tools/train: the command line around TrainingRun.
#include <fmt/format.h>

#include <optional>

#include "recipes/blocks/describe.h"
#include "tools/common/run_main.h"
#include "tools/train/training_run.h"

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

int Main(int argc, const char* const* argv) {
  Invocation invocation = ParseInvocation(argc, argv);
  if (!invocation.help.empty()) {
    fmt::print("{}", invocation.help);
    return 0;
  }
  std::optional<recipes::ResumedRun> resumed;
  if (!invocation.resume.empty()) {
    resumed = recipes::LoadRun(invocation.resume);
    TakeSettings(resumed->settings, invocation.resume, invocation);
  }
  CheckAndComplete(invocation);
  if (invocation.describe) {
    const recipes::DataForm form = DescribedForm(invocation);
    const recipes::CutChoice choice =
        resumed ? resumed->cuts : recipes::ChooseCuts(invocation.settings, form);
    fmt::print("{}", recipes::DescribeRun(invocation.settings, form, choice.cuts));
    return 0;
  }
  const bool evaluate_only = invocation.eval_only;
  TrainingRun run(std::move(invocation), std::move(resumed));
  if (!evaluate_only) return run.Run();
  run.EvaluateOnly();
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("train", [&] { return torus::tools::Main(argc, argv); });
}
