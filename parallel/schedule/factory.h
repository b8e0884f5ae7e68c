// Schedules by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

std::vector<std::string> ScheduleNames();
// The same, each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> ScheduleDescriptions();

// The forwards, backwards and steps of each rank, before lowering: gpipe.h has one.
using ScheduleGenerator = std::function<Schedule(int stages, int micro_batches)>;

// What a generator gives, lowered and verified. The errors of Lower and Verify.
Schedule MakeSchedule(const ScheduleGenerator& generator, int stages, int micro_batches);

// A lowered and verified schedule. BadInput for an unknown name (the message lists the known ones),
// and for fewer than one stage or micro-batch.
Schedule MakeSchedule(std::string_view name, int stages, int micro_batches);

}  // namespace torus::parallel
