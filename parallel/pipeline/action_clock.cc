#include "parallel/pipeline/action_clock.h"

#include "parallel/schedule/printer.h"

namespace torus::parallel {

void ActionClock::RecordCompute(const Action& action, int64_t step, const char* category,
                                int64_t begin, int64_t end) const {
  trace::Record({.name = ShortName(action),
                 .category = category,
                 .begin_ns = begin,
                 .end_ns = end,
                 .step = step,
                 .micro_batch = action.micro_batch});
}

void ActionClock::RecordTransfer(const std::string& name, int64_t step, int micro_batch,
                                 int64_t begin, double idle) const {
  const int64_t moved = begin + static_cast<int64_t>(idle * 1e9);
  if (moved > begin) {
    trace::Record({.name = "wait " + name,
                   .category = "idle",
                   .begin_ns = begin,
                   .end_ns = moved,
                   .step = step,
                   .micro_batch = micro_batch});
  }
  trace::Record({.name = name,
                 .category = "transfer",
                 .begin_ns = moved,
                 .end_ns = trace::Now(),
                 .step = step,
                 .micro_batch = micro_batch});
}

}  // namespace torus::parallel
