// ActionClock: measures the time of a rank's actions for its totals and for the trace.
#pragma once

#include <cstdint>
#include <string>

#include "parallel/pipeline/rank_totals.h"
#include "parallel/schedule/schedule.h"
#include "runtime/trace.h"

namespace torus::parallel {

class ActionClock {
 public:
  // When an action began.
  struct Mark {
    int64_t ns = 0;   // of trace::Now
    double idle = 0;  // RankTotals::idle so far
  };
  // Call before the first action of a step.
  void BeginStep() { computed_ns_ = 0; }
  // Of an action that begins now.
  Mark Begin() const { return {trace::Now(), totals_.idle}; }

  // Call within a forward or backward, after it has gathered or summed tensors of other replicas or
  // tensor-parallel ranks. The time since `begin` counts as reduction, not as the action's.
  void EndGather(const Mark& begin);

  // Call within any other action: its last `seconds` were a wait for other ranks, and count as
  // idle.
  void AddWait(double seconds) { waited_ns_ += static_cast<int64_t>(seconds * 1e9); }

  // Call after an action: adds its seconds to its kind's part of totals(), and records it if the
  // run is traced. A send or receive has already added its seconds to totals().idle and
  // totals().transfer; the trace shows first the time that it waited, as idle, then the time in
  // which it encoded, copied and decoded.
  void End(const Action& action, int64_t step, const Mark& begin);
  // The same after a transfer that is not an action.
  void EndTransfer(const std::string& name, int64_t step, int micro_batch, const Mark& begin) const;

  RankTotals& totals() { return totals_; }              // of all actions so far
  const RankTotals& totals() const { return totals_; }  // likewise

 private:
  RankTotals totals_;
  int64_t gathered_ns_ = 0, waited_ns_ = 0;  // of the current action
  int64_t computed_ns_ = 0;  // end of the step's last forward or backward so far; 0: none
};

}  // namespace torus::parallel
