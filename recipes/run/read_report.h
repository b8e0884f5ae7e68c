// Reads what a run's report shows from the run's folder.
#pragma once

#include <string>

#include "recipes/report/report.h"

namespace torus::recipes {

// Reads summary.json, metrics.jsonl, trace.json and schedule.csv of the run in `folder`. Without a
// schedule.csv, makes the schedule from its name, or leaves it out if this program does not know
// the name. Throws BadInput, naming the file, if a file is missing or is not a run's.
ReportInput ReadReport(const std::string& folder);

}  // namespace torus::recipes
