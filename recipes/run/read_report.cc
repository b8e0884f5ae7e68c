#include "recipes/run/read_report.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "parallel/schedule/factory.h"
#include "recipes/report/read_trace.h"
#include "recipes/run/run_folder.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

// Stops at an incomplete line, which a killed process may leave.
std::vector<Json> ReadLines(const std::string& path) {
  std::vector<Json> lines;
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
  const auto name =
      std::filesystem::exists(file) ? "csv:" + file : settings.at("schedule").get<std::string>();
  const int stages = settings.at("stages"), micro_batches = settings.at("micro-batches");
  const int chunks = settings.value("chunks", 1);  // older runs had one
  try {
    return parallel::MakeSchedule(name, parallel::SizeOf(settings.at("schedule").get<std::string>(),
                                                         stages, micro_batches, chunks));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

ReportInput ReadReport(const std::string& path) {
  const RunFolder folder{path};
  Require(std::filesystem::exists(folder.summary()), path,
          "must be the folder of a run, with its summary.json, got {}",
          std::filesystem::is_directory(path) ? "a folder without one"
          : std::filesystem::exists(path)     ? "a file"
                                              : "no such folder");
  ReportInput report{.summary = io::ReadJsonObject(folder.summary()),
                     .metrics = ReadLines(folder.metrics()),
                     .events = ReadChromeTrace(folder.trace()),
                     .schedule = {}};
  try {
    report.schedule = ScheduleOf(folder, report.summary.at("settings"));
  } catch (const Json::exception&) {
    Throw<BadInput>(
        folder.summary(),
        "must be a run's summary: \"settings\" with schedule, stages and micro-batches");
  }
  return report;
}

}  // namespace torus::recipes
