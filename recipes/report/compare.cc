#include "recipes/report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

// Rows of several runs' lists of a name and a value: a row for each name, in the order in which
// they come up, with the value of each run; null if it has none.
Json Rows(const std::vector<Json>& lists) {
  std::vector<std::string> names;
  for (const Json& list : lists)
    for (const Json& entry : list)
      if (const std::string name = entry[0]; std::ranges::count(names, name) == 0)
        names.push_back(name);
  Json rows = Json::array();
  for (const std::string& name : names) {
    Json row{name};
    for (const Json& list : lists) {
      const auto found =
          std::ranges::find_if(list, [&](const Json& entry) { return entry[0] == name; });
      row.push_back(found == list.end() ? Json() : (*found)[1]);
    }
    // Not a row in which no run has anything.
    if (std::any_of(row.begin() + 1, row.end(),
                    [](const Json& value) { return !value.is_null() && value != "–"; }))
      rows.push_back(row);
  }
  return rows;
}

// Each title of a run's table of steps with the value in its last row, the mean over the ranks. A
// run that failed early has no such rows.
Json Times(const Json& table) {
  Json times = Json::array();
  for (size_t column = 1; table.size() > 1 && column < table.front().size(); ++column)
    times.push_back({table.front()[column], table.back()[column]});
  return times;
}

Json Figures(const Json& data) {
  Json figures = Json::array();
  figures.push_back({"Model and data", data.at("title")});
  figures.push_back({"State", data.at("state").at("text")});
  for (const Json& card : data.at("cards")) figures.push_back({card[0], card[1]});
  return figures;
}

// The last `count` parts of a path.
std::string TailOf(const std::filesystem::path& path, int64_t count) {
  const int64_t parts = std::distance(path.begin(), path.end());
  std::filesystem::path tail;
  for (auto part = std::next(path.begin(), std::max<int64_t>(0, parts - count)); part != path.end();
       ++part)
    tail /= *part;
  return tail.string();
}

// As few parts from the end as no other path has.
std::string ShortestName(const std::filesystem::path& path,
                         const std::vector<std::filesystem::path>& all) {
  const int64_t parts = std::distance(path.begin(), path.end());
  for (int64_t count = 1; count < parts; ++count) {
    const std::string name = TailOf(path, count);
    const auto same = [&](const std::filesystem::path& other) {
      return other != path && TailOf(other, count) == name;
    };
    if (std::ranges::none_of(all, same)) return name;
  }
  return path.string();
}

}  // namespace

std::vector<std::string> NamesOf(const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : folders)
    paths.push_back(std::filesystem::absolute(folder + "/").lexically_normal().parent_path());
  std::vector<std::string> names;
  for (size_t i = 0; i < paths.size(); ++i) {
    const auto before =
        std::count(paths.begin(), paths.begin() + static_cast<int64_t>(i), paths[i]);
    names.push_back(ShortestName(paths[i], paths) +
                    (before == 0 ? "" : fmt::format(" ({})", before + 1)));
  }
  return names;
}

Json ComparisonData(const std::vector<NamedRun>& runs) {
  Json shown = Json::array();
  std::vector<Json> settings, figures, times;
  for (const NamedRun& run : runs) {
    const Json data = ReportData(run.report);
    settings.push_back(data["settings"]);
    figures.push_back(Figures(data));
    times.push_back(Times(data["steps_table"]));
    Json entry{{"name", run.name}};
    for (const char* key : {"steps", "evaluations", "scoreName"}) entry[key] = data[key];
    shown.push_back(entry);
  }
  return {{"title", fmt::format("{} runs", runs.size())},
          {"runs", shown},
          {"figures", Rows(figures)},
          {"times", Rows(times)},
          {"differences", Differences(settings)}};
}

std::string RenderComparison(const std::vector<NamedRun>& runs) {
  return FillPage(kCompareHtml, ComparisonData(runs), kCompareScript);
}

}  // namespace torus::recipes
