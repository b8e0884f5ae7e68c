// What the speed of a run on a long text is measured by.
#pragma once

#include <cstdint>

namespace torus::recipes {

class Task;

struct TextSpeed {
  int64_t tokens = 0;       // of a sample; 0: not a long text
  double peak_seconds = 0;  // that a sample would take at the machine's peak; 0: not known
};

// The peak is measured now, in about a tenth of a second: matrix products in the run's precision on
// all its threads. A sample counts three times the products of its forward (those of the backward
// are twice as many), whatever is recomputed. Known for models of the next token, which use all
// their logits, on a CPU.
TextSpeed TextSpeedOf(const Task& task);

}  // namespace torus::recipes
