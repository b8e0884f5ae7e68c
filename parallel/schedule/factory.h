// Makes schedules by name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/schedule/schedule.h"

namespace torus::parallel {

// Name and short description of each schedule: "gpipe", ..., and "csv:FILE" (csv.h).
std::vector<std::pair<std::string, std::string>> ScheduleDescriptions();

// The names of the schedules that are generated for a given size: all but "csv:FILE".
std::vector<std::string> ScheduleNames();
// Whether a schedule can run several stages per rank.
bool TakesChunks(std::string_view name);

// The stages of each rank with that schedule where a schedule that can run several runs `chunks`,
// as one from a file does: two of V-shaped schedules, one of the others.
int StagesARank(std::string_view name, int chunks);

// The size of a pipeline of `stages` stages that the named schedule runs, `chunks` on each rank;
// u-shaped runs one stage more, and V-shaped schedules run two a rank where `chunks` is 1. Throws
// BadInput if there is no such number of ranks.
PipelineSize SizeOf(std::string_view name, int64_t stages, int64_t micro_batches, int64_t chunks);

// Throws BadInput, listing the known names, unless MakeSchedule knows `name`.
void CheckScheduleName(std::string_view name);

// Makes the forwards and backwards of each rank, before lowering; GPipe (gpipe.h) is one.
using ScheduleGenerator = std::function<Schedule(const PipelineSize& size)>;

// Returns the generator's schedule, lowered and verified. Throws what Lower and Verify throw.
Schedule MakeSchedule(const ScheduleGenerator& generator, const PipelineSize& size);

// Returns the named schedule, lowered and verified. Throws BadInput if the name is unknown, if the
// schedule does not exist for that size, or if one read from a file breaks a rule (verifier.h).
Schedule MakeSchedule(std::string_view name, const PipelineSize& size);

}  // namespace torus::parallel
