#include "tools/bench/memory_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/allocator.h"
#include "tools/bench/step_clock.h"
#include "tools/bench/train_step.h"

namespace torus::bench {
namespace {

constexpr int kSteps = 4;

std::string Row(const TrainStepOptions& options) {
  Allocator& memory = AllocatorFor(Device());
  const double begin = StepClock();
  TrainStep step(options);
  const double start = StepClock() - begin;
  double loss = step.Run();
  memory.ResetPeak();
  std::vector<double> seconds;
  for (int i = 1; i < kSteps; ++i) {
    const double before = StepClock();
    loss = step.Run();
    seconds.push_back(StepClock() - before);
  }
  std::sort(seconds.begin(), seconds.end());
  return fmt::format("| {} | {} x {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.6f} |\n", options.model,
                     options.batch, options.size, options.recompute ? "yes" : "no", start,
                     1e-9 * static_cast<double>(memory.stats().peak_bytes),
                     seconds[seconds.size() / 2], loss);
}

}  // namespace

void PrintMemoryTable(std::ostream& out) {
  out << fmt::format(
      "| model | tokens | recompute | start, s | peak, GB | step, s | loss after {} steps |\n"
      "|---|---|---|---|---|---|---|\n",
      kSteps - 1);
  for (TrainStepOptions options : {TrainStepOptions{.model = "roberta", .size = 128, .batch = 8},
                                   TrainStepOptions{.model = "gpt2", .size = 256, .batch = 4},
                                   TrainStepOptions{.model = "gpt2", .size = 1024, .batch = 1}}) {
    for (const bool recompute : {false, true}) {
      options.recompute = recompute;
      out << Row(options) << std::flush;
    }
  }
}

}  // namespace torus::bench
