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
  // Calls f and adds its seconds to `total`, one of totals(); the trace shows it as `category`.
  template <class F>
  void Timed(const Action& action, int64_t step, const char* category, double& total, const F& f) {
    const int64_t begin = trace::Now();
    f();
    const int64_t end = trace::Now();
    total += static_cast<double>(end - begin) * 1e-9;
    if (trace::Enabled()) RecordCompute(action, step, category, begin, end);
  }

  // Calls f, a send or receive, which adds its own seconds to totals().idle and totals().transfer.
  // The trace shows the time that f waited as idle, before the time in which it encoded, copied and
  // decoded.
  template <class F>
  void Transfer(const std::string& name, int64_t step, int micro_batch, const F& f) {
    const double idle_before = totals_.idle;
    const int64_t begin = trace::Now();
    f();
    if (trace::Enabled())
      RecordTransfer(name, step, micro_batch, begin, totals_.idle - idle_before);
  }

  RankTotals& totals() { return totals_; }
  const RankTotals& totals() const { return totals_; }

 private:
  void RecordCompute(const Action& action, int64_t step, const char* category, int64_t begin,
                     int64_t end) const;
  void RecordTransfer(const std::string& name, int64_t step, int micro_batch, int64_t begin,
                      double idle) const;

  RankTotals totals_;
};

}  // namespace torus::parallel
