// Shows a run on the terminal.
#pragma once

#include <optional>
#include <string>

#include "recipes/run/run.h"
#include "tools/train/progress_line.h"

namespace torus::tools {

// "epoch 3: test accuracy 92.10 %, loss 0.2301".
std::string ToText(const recipes::Evaluation& test);

class RunScreen {
 public:
  // The callbacks for one run, which a stop signal (stop_signal.h) ends. They must not outlive this
  // object.
  recipes::RunCallbacks Callbacks();
  // Prints `line` on a line of its own.
  void Print(const std::string& line);

 private:
  std::optional<ProgressLine> progress_;
};

}  // namespace torus::tools
