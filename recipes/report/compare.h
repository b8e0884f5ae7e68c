// A page that compares several runs: their curves in one plot; their results, and the settings in
// which they differ, in one table.
#pragma once

#include <string>
#include <vector>

#include "recipes/report/report.h"

namespace torus::recipes {

struct NamedRun {
  std::string name;  // what the page calls it
  ReportInput report;
};

// The JSON that the page's script reads.
nlohmann::json ComparisonData(const std::vector<NamedRun>& runs);

// The page's HTML, as self-contained as RenderReport's.
std::string RenderComparison(const std::vector<NamedRun>& runs);

}  // namespace torus::recipes
