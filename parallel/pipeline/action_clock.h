// ActionClock: measures the time of a rank's actions, for its totals and for the trace.
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
    int64_t ns = 0;
    double idle = 0;  // RankTotals::idle so far
  };
  // Before the first action of a step.
  void BeginStep() { computed_ns_ = 0; }
  Mark Begin() const { return {trace::Now(), totals_.idle}; }

  // Within a forward or backward, after tensors of other replicas or tensor-parallel ranks have
  // been gathered or summed: these seconds are not the action's, but of a reduction.
  void EndGather(const Mark& begin);

  // Within another action: its last so many seconds were a wait for other ranks, and count as idle.
  void AddWait(double seconds) { waited_ns_ += static_cast<int64_t>(seconds * 1e9); }

  // After an action: adds its seconds to its kind's part of totals(), and records it where the run
  // is traced. A send or receive has added its own seconds to totals().idle and totals().transfer;
  // the trace shows the time that it waited as idle, before that in which it encoded, copied and
  // decoded.
  void End(const Action& action, int64_t step, const Mark& begin);
  // The same after another transfer.
  void EndTransfer(const std::string& name, int64_t step, int micro_batch, const Mark& begin) const;

  RankTotals& totals() { return totals_; }
  const RankTotals& totals() const { return totals_; }

 private:
  RankTotals totals_;
  int64_t gathered_ns_ = 0, waited_ns_ = 0;  // of the action that runs
  int64_t computed_ns_ = 0;  // end of the step's last forward or backward so far; 0: none
};

}  // namespace torus::parallel
