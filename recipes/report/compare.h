// A page that lays several runs side by side: their curves in one picture, their figures and the
// settings in which they differ in one table.
#pragma once

#include <string>
#include <vector>

#include "recipes/report/report.h"

namespace torus::recipes {

struct NamedRun {
  std::string name;  // what the page calls it
  ReportInput report;
};

// What the page's script reads.
nlohmann::json ComparisonData(const std::vector<NamedRun>& runs);

// The page's HTML, as whole in itself as RenderReport's.
std::string RenderComparison(const std::vector<NamedRun>& runs);

}  // namespace torus::recipes
