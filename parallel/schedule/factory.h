// Schedules by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

std::vector<std::string> ScheduleNames();

// A lowered and verified schedule. BadInput for an unknown name (the message lists the known ones),
// and for fewer than one stage or micro-batch.
Schedule MakeSchedule(std::string_view name, int stages, int micro_batches);

}  // namespace torus::parallel
