#include "recipes/blocks/cut_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recipes/report/units.h"
#include "runtime/error.h"

namespace torus::recipes {

using Json = nlohmann::json;

namespace {

// Older checkpoints have none.
std::optional<CutPrediction> PredictionFromJson(const Json& json, const std::string& where) {
  if (!json.contains("predicted") || json["predicted"].is_null()) return std::nullopt;
  const Json& predicted = json["predicted"];
  try {
    return CutPrediction{predicted.at("seconds"), predicted.at("bubble"),
                         predicted.at("peak_bytes")};
  } catch (const Json::exception&) {
    Throw<BadInput>(where, "what a cut was predicted to give must be seconds, bubble and bytes");
  }
}

}  // namespace

std::string ToText(const CutPrediction& prediction) {
  std::vector<std::string> peaks;
  for (const double bytes : prediction.peak_bytes)
    peaks.push_back(FormatBytes(static_cast<uint64_t>(bytes)));
  return fmt::format("{} a step, bubble {:.1f} %, memory of the ranks {}",
                     FormatSeconds(prediction.seconds), 100 * prediction.bubble,
                     fmt::join(peaks, ", "));
}

Json ToJson(const CutPrediction& prediction) {
  return {{"seconds", prediction.seconds},
          {"bubble", prediction.bubble},
          {"peak_bytes", prediction.peak_bytes}};
}

Json ToJson(const CutChoice& choice) {
  return {{"cuts", choice.cuts},
          {"measured_seconds", choice.measured},
          {"predicted", choice.predicted ? ToJson(*choice.predicted) : Json()}};
}

CutChoice CutChoiceFromJson(const Json& json, const std::string& where) {
  const auto list = [&](const char* key, auto fits) {
    const bool is = json.is_object() && json.contains(key) && json[key].is_array() &&
                    std::ranges::all_of(json[key], fits);
    Require(is, where, "the cut must have a list of numbers \"{}\"", key);
    return json[key];
  };
  // The first layers of stages. Numbers that are not those of a layer are found when the model is
  // cut.
  const auto place = [](const Json& cut) {
    return cut.is_number_integer() && cut >= 0 && cut <= 1 << 20;
  };
  const auto seconds = [](const Json& time) { return time.is_number(); };
  return {list("cuts", place).get<std::vector<int>>(),
          list("measured_seconds", seconds).get<std::vector<double>>(),
          PredictionFromJson(json, where)};
}

}  // namespace torus::recipes
