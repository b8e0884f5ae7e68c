// What the report's page shows, as the JSON that its script reads.
#pragma once

#include "tools/report/report.h"

namespace torus::tools {

nlohmann::json ReportData(const ReportInput& input);

}  // namespace torus::tools
