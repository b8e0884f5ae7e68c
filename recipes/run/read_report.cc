#include "recipes/run/read_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "parallel/schedule/factory.h"
#include "recipes/report/read_trace.h"
#include "recipes/run/run_folder.h"
#include "recipes/run/unended_run.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

bool Exists(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

// Stops at an incomplete line, which a killed process may leave.
std::vector<Json> ReadLines(const std::string& path) {
  std::vector<Json> lines;
  if (!Exists(path)) return lines;
  std::istringstream text(io::InputFile(path).ReadAll());
  for (std::string line; std::getline(text, line);) {
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) break;
    lines.push_back(std::move(json));
  }
  return lines;
}

// The schedule in the run's file. Older runs have no such file; then it is made from its name, or
// left out if this program cannot make it.
std::optional<parallel::Schedule> ScheduleOf(const RunFolder& folder, const Json& settings) {
  const std::string file = folder.schedule();
  const auto name = Exists(file) ? "csv:" + file : settings.at("schedule").get<std::string>();
  const int stages = settings.at("stages"), micro_batches = settings.at("micro-batches");
  const int chunks = settings.value("chunks", 1);  // older runs had one
  try {
    return parallel::MakeSchedule(name, parallel::SizeOf(settings.at("schedule").get<std::string>(),
                                                         stages, micro_batches, chunks));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// What lies at `path`: "a folder with a.txt and b.txt".
std::string FoundAt(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return Exists(path) ? "a file" : "no such folder";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path, none))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  constexpr size_t kMost = 8;
  const size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  if (names.empty()) return "an empty folder";
  return fmt::format("a folder with {}{}", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

Json SummaryIn(const RunFolder& folder) {
  if (Exists(folder.summary())) return io::ReadJsonObject(folder.summary());
  Require(Exists(folder.metrics()) || Exists(folder.checkpoint()), folder.path,
          "must be the folder of a run, with its summary.json, or metrics.jsonl or a checkpoint, "
          "got {}",
          FoundAt(folder.path));
  return SummaryOfNone(folder);
}

}  // namespace

ReportInput ReadReport(const std::string& path) {
  const RunFolder folder{path};
  const Json summary = SummaryIn(folder);
  ReportInput report{.summary = {}, .metrics = ReadLines(folder.metrics()), .events = {}};
  report.summary = UpToMetrics(summary, report.metrics);
  if (Exists(folder.trace())) report.events = ReadChromeTrace(folder.trace());
  const Json& settings = io::Member(report.summary, "settings");
  if (report.summary.value("ended", true) || settings.contains("schedule")) try {
      report.schedule = ScheduleOf(folder, report.summary.at("settings"));
    } catch (const Json::exception&) {
      Throw<BadInput>(
          folder.summary(),
          "must be a run's summary: \"settings\" with schedule, stages and micro-batches");
    }
  return report;
}

}  // namespace torus::recipes
