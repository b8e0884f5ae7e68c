#include <nlohmann/json.hpp>

#include "models/checkpoint/config_reader.h"
#include "models/folders.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "runtime/error.h"

namespace torus {
namespace {

using nlohmann::json;

InvertedResidualSetting SettingOf(const json& row, const std::string& where) {
  const auto fits = [](const json& v) { return v.is_number_integer() && v >= 0 && v <= 1 << 28; };
  Require(row.is_array() && row.size() == 4 && std::ranges::all_of(row, fits), where,
          "a row of inverted_residual_setting must be four whole numbers up to 2^28, got {}",
          row.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 100));
  return {row[0], row[1], row[2], row[3]};
}

MobileNetV2Options FromConfig(const json& config, const std::string& where) {
  const ConfigReader reader(config, where);
  reader.RequireKnown(
      {"num_classes", "width_mult", "round_nearest", "inverted_residual_setting", "dropout"});
  MobileNetV2Options o;
  reader.Read("num_classes", o.num_classes);
  reader.Read("width_mult", o.width_mult);
  reader.Read("round_nearest", o.round_nearest);
  reader.Read("dropout", o.dropout);
  const json rows = reader.Raw("inverted_residual_setting");
  if (rows.is_null()) return o;
  Require(rows.is_array(), where, "inverted_residual_setting must be a list of rows");
  o.settings.clear();
  for (const json& row : rows) o.settings.push_back(SettingOf(row, where));
  return o;
}

}  // namespace

// mobilenet_v2, which takes its width. Configurations are the arguments of torchvision's
// MobileNetV2: num_classes, width_mult, round_nearest, inverted_residual_setting and dropout.
std::vector<ModelDescriptor> MobileNetV2Descriptors() {
  return {{.name = "mobilenet_v2",
           .title = "MobileNetV2",
           .size_numbers = {{"WIDTH", "width", 16, /*whole=*/false}},
           .size_title = " x {}",
           .config =
               [](std::span<const double> sizes, int64_t outputs) {
                 json config = {{"num_classes", outputs}};
                 if (!sizes.empty()) config["width_mult"] = sizes[0];
                 return config;
               },
           .build =
               [](const json& config, const std::string& where, const BuildOptions& options) {
                 MobileNetV2Options o = FromConfig(config, where);
                 if (!options.dropout) o.dropout = 0;
                 return MobileNetV2(o);
               },
           .training = {.learning_rate = 0.07, .weight_decay = 4e-5}}};
}

}  // namespace torus
