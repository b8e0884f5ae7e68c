#include "recipes/report/compare.h"

#include <fmt/format.h>

#include "recipes/report/fill_page.h"
#include "recipes/report/page_assets.h"
#include "recipes/report/report_data.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// The settings that differ between runs: name, and value in each run.
Json Differences(const std::vector<Json>& settings) {
  Json every = Json::object();
  for (const Json& run : settings) every.update(run);
  Json rows = Json::array();
  for (const auto& [name, unused] : every.items()) {
    Json row{name};
    bool same = true;
    for (const Json& run : settings) {
      row.push_back(run.value(name, ""));
      same = same && row.back() == row[1];
    }
    if (!same) rows.push_back(row);
  }
  return rows;
}

// Each title of a run's table of steps with the value in its last row, the mean over the ranks.
Json Times(const Json& table) {
  Json times = Json::array();
  for (size_t column = 1; column < table.front().size(); ++column)
    times.push_back({table.front()[column], table.back()[column]});
  return times;
}

}  // namespace

Json ComparisonData(const std::vector<NamedRun>& runs) {
  Json shown = Json::array();
  std::vector<Json> settings;
  for (const NamedRun& run : runs) {
    const Json data = ReportData(run.report);
    settings.push_back(data["settings"]);
    Json entry{{"name", run.name}};
    for (const char* key : {"title", "cards", "steps", "evaluations", "scoreName"})
      entry[key] = data[key];
    entry["times"] = Times(data["steps_table"]);
    shown.push_back(entry);
  }
  return {{"title", fmt::format("{} runs", runs.size())},
          {"runs", shown},
          {"differences", Differences(settings)}};
}

std::string RenderComparison(const std::vector<NamedRun>& runs) {
  return FillPage(kCompareHtml, ComparisonData(runs), kCompareScript);
}

}  // namespace torus::recipes
