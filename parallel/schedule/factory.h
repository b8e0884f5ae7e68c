// Schedules by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// "gpipe", ..., and "csv:FILE" (csv.h); each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> ScheduleDescriptions();

// Those that are made for any size, all but "csv:FILE".
std::vector<std::string> ScheduleNames();
// Whether a schedule runs several stages a rank.
bool TakesChunks(std::string_view name);

// BadInput, listing the known ones, unless MakeSchedule knows `name`.
void CheckScheduleName(std::string_view name);

// The forwards and backwards of each rank, before lowering: gpipe.h has one.
using ScheduleGenerator = std::function<Schedule(const PipelineSize& size)>;

// What a generator gives, lowered and verified. The errors of Lower and Verify.
Schedule MakeSchedule(const ScheduleGenerator& generator, const PipelineSize& size);

// A lowered and verified schedule. BadInput for an unknown name, for a size that the schedule is
// not made for, and when the one of a file breaks a rule (verifier.h).
Schedule MakeSchedule(std::string_view name, const PipelineSize& size);

}  // namespace torus::parallel
