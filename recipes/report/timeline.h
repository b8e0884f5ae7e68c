// The two pictures of a step in a report: as it was measured, and the ideal staircase.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "parallel/schedule/schedule.h"
#include "runtime/trace.h"

namespace torus::recipes {

// Kinds are "forward", "backward", "send", "receive", "wait", "reduce", "optimizer", "data".
// {"step", "seconds", "lanes": [{"name", "spans": [[begin, end, kind, label, title], ...]}]}, in
// seconds from the first event of the step. Of the steps that `events` hold whole (not the first
// one, which warms up, where there is another), the one of median length. `lanes` names the ranks.
// Without such a step "lanes" is empty.
nlohmann::json MeasuredTimeline(const std::vector<trace::Event>& events,
                                const std::vector<std::string>& lanes);

// The same form for `schedule` on every replica, each forward and backward taking the given
// seconds.
nlohmann::json IdealTimeline(const parallel::Schedule& schedule, double forward, double backward,
                             const std::vector<std::string>& lanes);

}  // namespace torus::recipes
