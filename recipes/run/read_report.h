// What a run's report shows, read from its folder.
#pragma once

#include <string>

#include "recipes/report/report.h"

namespace torus::recipes {

// From summary.json, metrics.jsonl, trace.json and schedule.csv of the run in `folder`. Of a run
// that left no schedule.csv the schedule is made anew by its name, and left out where this program
// does not know it. BadInput naming the file that is missing or is not a run's.
ReportInput ReadReport(const std::string& folder);

}  // namespace torus::recipes
