#include "parallel/pipeline/action_clock.h"

#include <utility>

#include "parallel/schedule/printer.h"

namespace torus::parallel {
namespace {

struct Category {
  const char* name;
  double RankTotals::*total;
};

// The kind's part of the totals, for actions other than transfers.
Category CategoryOf(ActionKind kind) {
  if (IsForward(kind)) return {"forward", &RankTotals::forward};
  if (IsBackward(kind)) return {"backward", &RankTotals::backward};
  if (kind == ActionKind::kReduce || IsOfWeights(kind)) return {"reduce", &RankTotals::reduce};
  return {"optimizer", &RankTotals::optimizer};
}

struct Place {
  int64_t step;
  int micro_batch;
};

void RecordTime(const std::string& name, const char* category, int64_t begin, int64_t end,
                const Place& place) {
  trace::Record({.name = name,
                 .category = category,
                 .begin_ns = begin,
                 .end_ns = end,
                 .step = place.step,
                 .micro_batch = place.micro_batch});
}

}  // namespace

void ActionClock::EndGather(const Mark& begin) {
  const int64_t ns = trace::Now() - begin.ns;
  gathered_ns_ += ns;
  totals_.reduce += static_cast<double>(ns) * 1e-9;
}

void ActionClock::End(const Action& action, int64_t step, const Mark& begin) {
  if (IsSend(action.kind) || IsRecv(action.kind)) {
    if (trace::Enabled()) EndTransfer(ShortName(action), step, action.micro_batch, begin);
    return;
  }
  const int64_t now = trace::Now(), waited = std::exchange(waited_ns_, 0), end = now - waited;
  totals_.idle += static_cast<double>(waited) * 1e-9;
  const Category category = CategoryOf(action.kind);
  const int64_t own = end - begin.ns - std::exchange(gathered_ns_, 0);
  totals_.*category.total += static_cast<double>(own) * 1e-9;
  if (IsCompute(action.kind)) {
    const int64_t from = computed_ns_ == 0 ? begin.ns : computed_ns_;
    totals_.pipeline += static_cast<double>(end - from) * 1e-9;
    computed_ns_ = end;
  }
  if (!trace::Enabled()) return;
  const std::string name = ShortName(action);
  const Place place{step, action.micro_batch};
  RecordTime(name, category.name, begin.ns, end, place);
  if (waited > 0) RecordTime("wait " + name, "idle", end, now, place);
}

void ActionClock::EndTransfer(const std::string& name, int64_t step, int micro_batch,
                              const Mark& begin) const {
  if (!trace::Enabled()) return;
  const int64_t moved = begin.ns + static_cast<int64_t>((totals_.idle - begin.idle) * 1e9);
  const Place place{step, micro_batch};
  if (moved > begin.ns) RecordTime("wait " + name, "idle", begin.ns, moved, place);
  RecordTime(name, "transfer", moved, trace::Now(), place);
}

}  // namespace torus::parallel
