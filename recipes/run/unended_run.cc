#include "recipes/run/unended_run.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

double NumberOf(const Json& line, const char* key) {
  const Json value = line.value(key, Json());
  return value.is_number() ? value.get<double>() : 0;
}

void AddTimes(const std::vector<Json>& metrics, Json& summary) {
  int64_t steps = 0;
  double seconds = 0, samples = 0;
  for (const Json& line : metrics) {
    if (line.value("kind", "") != "train") continue;
    ++steps;
    seconds += NumberOf(line, "seconds");
    samples += NumberOf(line, "samples");
  }
  summary["steps_here"] = steps;
  summary["samples"] = samples;
  summary["seconds"] = seconds;
  summary["samples_per_second"] = seconds > 0 ? samples / seconds : 0;
  summary["bubble"] = summary["memory"] = nullptr;
}

// The settings in the newest checkpoint; none where it cannot be read.
Json StoredSettings(const RunFolder& folder) try {
  const std::string file = "settings.json";
  return io::ParseJsonObject(io::CheckpointReader(folder.checkpoint()).Text(file), file);
} catch (const Error&) {
  return Json::object();
}

}  // namespace

Json UpToMetrics(Json summary, const std::vector<Json>& metrics) {
  if (summary.value("ended", true)) return summary;
  summary["test"] = summary["validation"] = nullptr;
  for (const Json& line : metrics) {
    const auto step = static_cast<int64_t>(NumberOf(line, "step"));
    summary["steps"] = std::max(summary.at("steps").get<int64_t>(), step);
    summary["epochs_done"] = NumberOf(line, "epoch");
    for (const char* part : {"test", "validation"})
      if (line.value("kind", "") == part) summary[part] = line;
  }
  if (NumberOf(summary, "steps_here") == 0) AddTimes(metrics, summary);
  return summary;
}

Json SummaryOfNone(const RunFolder& folder) {
  const Json stored = StoredSettings(folder), settings = stored.value("settings", Json::object()),
             cut = stored.value("cut", Json::object());
  const std::string name = std::filesystem::path(folder.path + "/").parent_path().filename();
  const bool known = settings.contains("model") && settings.contains("data");
  return {{"title", known ? fmt::format("{} on {}", settings["model"].get<std::string>(),
                                        settings["data"].get<std::string>())
                          : name},
          {"ended", false},
          {"settings", settings},
          {"cuts", io::Member(cut, "cuts")},
          {"steps", 0},
          {"epochs_done", 0},
          {"unit", "samples"},
          {"ranks", Json::array()},
          {"links", Json::array()}};
}

}  // namespace torus::recipes
