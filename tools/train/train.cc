// tools/train: the command line around TrainingRun.
#include <fmt/format.h>

#include <optional>

#include "tools/common/run_main.h"
#include "tools/train/describe.h"
#include "tools/train/training_run.h"

namespace torus::tools {
namespace {

// Of a model that is named alone, without data: as it was published.
DataForm DescribedForm(const Invocation& invocation) {
  const auto given = [&](const char* flag) { return invocation.given.contains(flag); };
  const bool alone = given("--model") && !given("--data") && !given("--data-dir") &&
                     invocation.preset.empty() && invocation.resume.empty();
  return alone ? PublishedForm(invocation.settings, given) : FormOfData(invocation.settings);
}

int Main(int argc, const char* const* argv) {
  Invocation invocation = ParseInvocation(argc, argv);
  if (!invocation.help.empty()) {
    fmt::print("{}", invocation.help);
    return 0;
  }
  std::optional<ResumedRun> resumed;
  if (!invocation.resume.empty()) {
    resumed = LoadRun(invocation.resume);
    TakeSettings(resumed->settings, invocation.resume, invocation);
  }
  CheckAndComplete(invocation);
  if (invocation.describe) {
    const DataForm form = DescribedForm(invocation);
    const CutChoice choice = resumed ? resumed->cuts : ChooseCuts(invocation.settings, form);
    fmt::print("{}", DescribeRun(invocation.settings, form, choice.cuts));
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
