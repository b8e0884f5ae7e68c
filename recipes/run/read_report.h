// What a run's report shows, read from its folder.
#pragma once

#include <string>

#include "recipes/report/report.h"

namespace torus::recipes {

// From summary.json, metrics.jsonl and trace.json of the run in `folder`; its schedule is made anew
// from its settings, and left out where it is an application's own. BadInput naming the file that is missing or is not a run's.
ReportInput ReadReport(const std::string& folder);

}  // namespace torus::recipes
