// The two timelines of a step in a report: the measured one, and the ideal one of the schedule.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parallel/schedule/schedule.h"
#include "runtime/trace.h"

namespace torus::recipes {

// Kinds are "forward", "backward", "send", "receive", "wait", "reduce", "optimizer", "data".
// {"step", "seconds", "lanes": [{"name", "spans": [[begin, end, kind, label, title], ...]}]}, in
// seconds from the first event of the step. Shows the step of median length among those that
// `events` hold completely; the first one, a warm-up, counts only if there is no other. `lanes`
// names the ranks. Without a complete step "lanes" is empty.
nlohmann::json MeasuredTimeline(const std::vector<trace::Event>& events,
                                const std::vector<std::string>& lanes);

// The same form for `schedule` on every replica, where each forward and backward takes the given
// seconds.
nlohmann::json IdealTimeline(const parallel::Schedule& schedule, double forward, double backward,
                             const std::vector<std::string>& lanes);

}  // namespace torus::recipes
