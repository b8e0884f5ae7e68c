#include "tools/train/run_screen.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "tools/common/stop_signal.h"

namespace torus::tools {

std::string ToText(const recipes::Evaluation& test) {
  if (!std::isfinite(test.loss))
    return fmt::format("epoch {:.4g}: {} loss {}, so there is no score", test.epoch, test.part,
                       test.loss);
  const std::string what = test.accuracy ? fmt::format("accuracy {:.2f} %", 100 * *test.accuracy)
                                         : fmt::format("perplexity {:.4f}", std::exp(test.loss));
  return fmt::format("epoch {:.4g}: {} {}, loss {:.4f}", test.epoch, test.part, what, test.loss);
}

recipes::RunCallbacks RunScreen::Callbacks() {
  return {.on_start = [this](const recipes::RunStart& start) { progress_.emplace(stdout, start); },
          .on_step =
              [this](const parallel::StepReport& step) {
                progress_->Show({step.step, step.loss, step.samples, step.seconds, step.skipped});
              },
          .on_evaluate = [this](const recipes::Evaluation& test) { Print(ToText(test)); },
          .on_message = [this](const std::string& line) { Print(line); },
          .stop = [] { return StopSignal() != 0; }};
}

void RunScreen::Print(const std::string& line) {
  if (progress_)
    progress_->Print(line);
  else
    std::puts(line.c_str());
}

}  // namespace torus::tools
