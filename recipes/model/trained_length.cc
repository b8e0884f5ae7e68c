#include "recipes/model/trained_length.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "models/checkpoint/config_reader.h"
#include "runtime/io/json.h"

namespace torus::recipes {

int64_t TrainedLength(const nlohmann::json& config, const std::string& folder) {
  int64_t length = 0;
  if (!config.is_null()) ConfigReader(config, folder + "/config.json").Read(kTrainedLength, length);
  const std::string settings = folder + "/settings.json";
  if (length > 0 || !std::filesystem::exists(settings)) return length;
  const nlohmann::json stored = io::Member(io::ReadJsonObject(settings), "settings");
  if (stored.is_object()) ConfigReader(stored, settings).Read("length", length);
  return length;
}

std::string BeyondTraining(int64_t length, int64_t trained) {
  if (trained == 0 || length <= trained) return "";
  return fmt::format(
      "--length {}: the model was trained on rows of {} tokens; its positions beyond these were "
      "not "
      "trained",
      length, trained);
}

}  // namespace torus::recipes
