#include "recipes/run/resumed_run.h"

#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "recipes/run/earlier_checkpoints.h"
#include "recipes/settings/settings_json.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

constexpr char kSettingsFile[] = "settings.json";

template <class Value>
struct Newest {
  Value value;
  std::string checkpoint;  // where it is from
  std::string why;         // newer ones were passed over
};

Json ParseSettings(const std::string& text, const std::string& path) {
  Json json = io::ParseJsonObject(text, path);
  Require(json.contains("settings") && json.contains("cut"), path, "must have settings and a cut");
  return json;
}

int64_t VersionIn(const Json& json, const std::string& path) {
  const Json version = json.value("version", Json(1));
  Require(version.is_number_integer() && version.get<int64_t>() >= 1, path,
          "must have a version from 1 on, got {}", io::Brief(version));
  return version.get<int64_t>();
}

StoredRun ReadStored(const io::CheckpointReader& checkpoint, const std::string& folder) {
  const std::string file = folder + "/" + kSettingsFile;
  const Json json = ParseSettings(checkpoint.Text(kSettingsFile), file);
  StoredRun stored{SettingsFromJson(json["settings"], file, VersionIn(json, file)),
                   CutChoiceFromJson(json["cut"], file)};
  if (json.contains("data")) stored.data = DataOrderFromJson(json["data"], file);
  return stored;
}

// The checkpoints that `path` stands for, the newest first.
std::vector<std::string> CheckpointsOf(const std::string& path) {
  const RunFolder folder = ExistingRunFolder(path);
  std::error_code none;
  if (!std::filesystem::equivalent(path, folder.path, none)) return {path};
  std::vector<std::string> all{folder.checkpoint()};
  for (const int64_t step : EarlierSteps(folder)) all.push_back(folder.earlier(step));
  return all;
}

// The result of `read` for the first of them that it can read, and why the newest could not be
// read.
template <class Value, class Read>
Newest<Value> FromNewest(const std::string& path, const Read& read) {
  std::exception_ptr first;
  std::string why;
  for (const std::string& checkpoint : CheckpointsOf(path)) try {
      return {read(checkpoint), checkpoint, why};
    } catch (const Error& error) {
      if (!first) first = std::current_exception(), why = error.what();
    }
  std::rethrow_exception(first);
}

}  // namespace

StoredRun LoadStored(const std::string& path) {
  const auto read = [](const std::string& folder) {
    return ReadStored(io::CheckpointReader(folder), folder);
  };
  return FromNewest<StoredRun>(path, read).value;
}

ResumedRun LoadRun(const std::string& path) {
  const auto read = [](const std::string& folder) {
    const auto checkpoint = std::make_shared<const io::CheckpointReader>(folder);
    ResumedRun run{ReadStored(*checkpoint, folder)};
    run.checkpoint = checkpoint;
    return run;
  };
  Newest<ResumedRun> found = FromNewest<ResumedRun>(path, read);
  ResumedRun& run = found.value;
  run.folder = ExistingRunFolder(path);
  run.from = found.checkpoint;
  std::error_code none;
  run.newest = std::filesystem::equivalent(run.from, run.folder.checkpoint(), none);
  if (!found.why.empty())
    run.note = fmt::format("{} is taken instead of a newer checkpoint: {}", run.from, found.why);
  return run;
}

std::map<std::string, std::string> TextsOf(const StoredRun& run) {
  Json json = {
      {"version", kSettingsVersion}, {"settings", ToJson(run.settings)}, {"cut", ToJson(run.cuts)}};
  if (run.data) json["data"] = ToJson(*run.data);
  return {{kSettingsFile, json.dump(2) + "\n"}};
}

void SaveRun(const RunFolder& folder, const StoredRun& run, parallel::Trainer& trainer,
             const std::map<std::string, std::string>& more) {
  std::map<std::string, std::string> texts = TextsOf(run);
  texts.insert(more.begin(), more.end());
  trainer.Save(folder.checkpoint(), texts);
}

}  // namespace torus::recipes
