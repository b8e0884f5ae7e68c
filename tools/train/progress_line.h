// Shows the progress of a run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>

#include "recipes/run/run.h"

namespace torus::tools {

// On a terminal, one line that is redrawn whenever the terminal accepts output without blocking.
// Elsewhere, a plain line after every twentieth of the run.
class ProgressLine {
 public:
  // Shows the run that `start` describes.
  ProgressLine(std::FILE* out, const recipes::RunStart& start);

  struct Step {
    int64_t step = 0;  // from 0
    double loss = 0;
    int64_t samples = 0;
    double seconds = 0;
    bool skipped = false;  // its loss does not count
  };
  void Show(const Step& step);
  // Prints `text` on a line of its own, above the progress line.
  void Print(const std::string& text);
  // Clears the progress line.
  void End();

 private:
  std::string Render(const Step& step) const;
  std::string Speed() const;
  double SamplesPerSecond() const;

  std::FILE* out_;
  const std::string unit_;
  const recipes::TextSpeed text_;
  const bool terminal_;
  const int64_t begin_, end_;
  std::deque<Step> recent_;  // for speed and the loss shown
  bool drawn_ = false;
  double since_drawn_ = 0;
};

}  // namespace torus::tools
