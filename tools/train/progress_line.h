// What a person sees while a run goes on.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>

namespace torus::tools {

// On a terminal one line that is drawn over, when it takes output without a wait; elsewhere a plain
// line at every twentieth of the run.
class ProgressLine {
 public:
  // Steps [begin, end) are to come. `unit`: what samples are called.
  ProgressLine(std::FILE* out, std::string unit, int64_t begin, int64_t end);

  struct Step {
    int64_t step = 0;  // from 0
    double loss = 0;
    int64_t samples = 0;
    double seconds = 0;
    bool skipped = false;  // its loss does not count
  };
  void Show(const Step& step);
  // A line of text of its own; the bar goes on below it.
  void Print(const std::string& text);
  // Clears the bar.
  void End();

 private:
  std::string Render(const Step& step) const;
  double SamplesPerSecond() const;

  std::FILE* out_;
  const std::string unit_;
  const bool terminal_;
  const int64_t begin_, end_;
  std::deque<Step> recent_;  // for speed and the loss shown
  bool drawn_ = false;
  double since_drawn_ = 0;
};

}  // namespace torus::tools
