// A page that compares several runs: their curves over steps, seconds and bytes; their results, and
// the settings in which they differ, in one table.
#pragma once

#include <string>
#include <vector>

#include "recipes/report/report.h"

namespace torus::recipes {

struct NamedRun {
  std::string name;  // what the page calls it
  ReportInput report;
};

// Names for the runs in `folders`: as many parts from the end of each path as tell it from the
// others.
std::vector<std::string> NamesOf(const std::vector<std::string>& folders);

// The JSON that the page's script reads.
nlohmann::json ComparisonData(const std::vector<NamedRun>& runs);

// The page's HTML, as self-contained as RenderReport's.
std::string RenderComparison(const std::vector<NamedRun>& runs);

}  // namespace torus::recipes
