#include "recipes/evaluate/run_weights.h"

#include <filesystem>
#include <optional>

#include "recipes/data/data_names.h"
#include "recipes/run/resumed_run.h"
#include "recipes/run/run_folder.h"
#include "runtime/error.h"
#include "runtime/io/folder_place.h"

namespace torus::recipes {
namespace {

namespace fs = std::filesystem;

bool Has(const std::string& folder, const std::string& file) {
  const std::string committed = io::CommittedFolder(folder);
  std::error_code none;
  return !committed.empty() && fs::exists(committed + "/" + file, none);
}

bool IsRun(const std::string& path) { return Has(RunFolder{path}.checkpoint(), "settings.json"); }

std::string WeightsOf(const RunFolder& run) {
  std::error_code none;
  if (Has(run.model(), "config.json")) return run.model();
  return fs::exists(run.averaged_weights(), none) ? run.averaged_weights() : run.checkpoint();
}

// None for a checkpoint that somebody has put elsewhere, which is as good as any other weights.
std::optional<Settings> SettingsOf(const std::string& path) {
  if (IsRun(path)) return LoadStored(path).settings;
  if (!Has(path, "settings.json")) return std::nullopt;
  try {
    return LoadStored(path).settings;
  } catch (const BadInput&) {
    return std::nullopt;
  }
}

void Fill(std::string& given, const std::string& of_run) {
  if (given.empty()) given = of_run;
}

}  // namespace

EvaluateOptions WithRunSettings(EvaluateOptions options) {
  const std::optional<Settings> found = SettingsOf(options.init);
  if (!found) return options;
  const Settings& settings = *found;
  if (IsRun(options.init)) options.init = WeightsOf({options.init});
  Fill(options.data, settings.data);
  if (options.data == settings.data) Fill(options.data_dir, settings.data_dir);
  if (options.image_size == 0) options.image_size = settings.image_size;
  // A folder with a config.json says itself what it holds.
  if (DataKind(options.data) != "images" && Has(options.init, "config.json")) return options;
  if (options.length == 0 && DataKind(options.data) != "images") options.length = settings.length;
  Fill(options.model, settings.model);
  Fill(options.tokenizer, settings.tokenizer);
  Fill(options.vocab_dir, settings.vocab_dir);
  return options;
}

}  // namespace torus::recipes
