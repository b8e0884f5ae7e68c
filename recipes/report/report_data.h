// What the report page shows, as the JSON that its script reads.
#pragma once

#include "recipes/report/report.h"

namespace torus::recipes {

nlohmann::json ReportData(const ReportInput& input);

}  // namespace torus::recipes
