// Reads what a run's report shows from the run's folder.
#pragma once

#include <string>

#include "recipes/report/report.h"

namespace torus::recipes {

// Reads what there is of summary.json, metrics.jsonl, trace.json and schedule.csv of the run in
// `folder`, which may have been killed or still run (unended_run.h). Without a schedule.csv, makes
// the schedule from its name, or leaves it out if this program does not know the name. Throws
// BadInput if there is neither a summary nor metrics nor a checkpoint, saying what there is, and
// for a file that is not a run's, naming it.
ReportInput ReadReport(const std::string& folder);

}  // namespace torus::recipes
