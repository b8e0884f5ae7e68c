#include "recipes/run/resumed_run.h"

#include <nlohmann/json.hpp>

#include "models/checkpoint/layout.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

constexpr char kSettingsFile[] = "settings.json";

// A parameter's optimizer state has its shape, so it changes in the same way. Views: no copies.
template <class Change>
parallel::TrainState WithLayout(parallel::TrainState state, const Change& change) {
  for (NamedTensor& tensor : state.weights) tensor.value = change(tensor.value);
  for (NamedTensor& tensor : state.optimizer) tensor.value = change(tensor.value);
  for (NamedTensor& tensor : state.averages) tensor.value = change(tensor.value);
  return state;
}

Json ParseSettings(const std::string& text, const std::string& path) {
  Json json = io::ParseJsonObject(text, path);
  Require(json.contains("settings") && json.contains("cut"), path, "must have settings and a cut");
  return json;
}

StoredRun ReadStored(const parallel::CheckpointReader& checkpoint, const std::string& folder) {
  const std::string file = folder + "/" + kSettingsFile;
  const Json json = ParseSettings(checkpoint.Text(kSettingsFile), file);
  return {SettingsFromJson(json["settings"], file), CutChoiceFromJson(json["cut"], file)};
}

}  // namespace

StoredRun LoadStored(const std::string& path) {
  const std::string folder = ExistingRunFolder(path).checkpoint();
  return ReadStored(parallel::CheckpointReader(folder), folder);
}

ResumedRun LoadRun(const std::string& path) {
  ResumedRun run{.folder = ExistingRunFolder(path)};
  const std::string folder = run.folder.checkpoint();
  const parallel::CheckpointReader checkpoint(folder);
  StoredRun stored = ReadStored(checkpoint, folder);
  run.settings = std::move(stored.settings);
  run.cuts = std::move(stored.cuts);
  run.state =
      WithLayout(checkpoint.State(), [](const Tensor& files) { return FromFileLayout(files); });
  return run;
}

void SaveRun(const ResumedRun& run) {
  const Json json = {{"settings", ToJson(run.settings)}, {"cut", ToJson(run.cuts)}};
  parallel::SaveCheckpoint(
      run.folder.checkpoint(),
      WithLayout(run.state, [](const Tensor& ours) { return ToFileLayout(ours); }),
      {{kSettingsFile, json.dump(2) + "\n"}});
}

}  // namespace torus::recipes
