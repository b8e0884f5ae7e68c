// Schedules by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

std::vector<std::string> ScheduleNames();

// A lowered and verified schedule. BadInput with the list of names for an unknown one, and for
// numbers below 1.
Schedule MakeSchedule(std::string_view name, int stages, int micro_batches);

}  // namespace torus::parallel
