#include "recipes/settings/settings.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "recipes/settings/settings_json.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;

std::string KeyOf(const std::string& flag) { return flag.substr(2); }

bool Fits(const Json& value, const std::string&) { return value.is_string(); }
bool Fits(const Json& value, int64_t) { return value.is_number_integer(); }
bool Fits(const Json& value, uint64_t) { return value.is_number_unsigned(); }
bool Fits(const Json& value, double) { return value.is_number(); }
bool Fits(const Json& value, bool) { return value.is_boolean(); }
bool Fits(const Json& value, const std::vector<std::string>&) {
  return value.is_array() &&
         std::ranges::all_of(value, [](const Json& v) { return v.is_string(); });
}

// Before this version Adam's beta1 was --momentum.
constexpr int64_t kBeta1Since = 4;

// A setting that was added later, and the value that matches older runs.
struct Later {
  int64_t since;
  Json before;
};

const Later* LaterSetting(const std::string& key) {
  static const std::map<std::string, Later> all{{"collectives", {2, "ring"}},
                                                {"drop-last", {3, false}},
                                                {"chunks", {5, 1}},
                                                {"strategy", {6, "ddp"}},
                                                {"reproducible", {7, false}},
                                                {"bucket-mb", {8, 4}},
                                                {"sync-batch-norm", {9, false}},
                                                {"precision", {10, "f32"}},
                                                {"emulate", {11, false}},
                                                {"device", {12, "cpu"}},
                                                {"gpu-links", {13, "copy"}},
                                                {"codec-backward", {14, ""}},
                                                {"codec-gradients", {15, "none"}},
                                                {"codec-warmup", {16, 0}},
                                                {"codec-folder", {17, ""}},
                                                {"tensor", {18, 1}},
                                                {"tensor-cuts", {19, "whole"}},
                                                {"link", {20, Json::array()}},
                                                {"init-part", {21, ""}},
                                                {"image-cache", {22, ""}},
                                                {"autotune", {23, false}},
                                                {"label-smoothing", {24, 0.0}},
                                                {"gradient-norm", {25, false}},
                                                {"validation", {26, 0.0}},
                                                {"best", {27, "test"}},
                                                {"patience", {28, 0}},
                                                {"mixup", {29, 0.0}},
                                                {"cutmix", {30, 0.0}},
                                                {"random-erasing", {31, 0.0}},
                                                {"lora", {32, 0}},
                                                {"optimizer-state", {33, "f32"}},
                                                {"document-mask", {34, false}}};
  const auto found = all.find(key);
  return found == all.end() ? nullptr : &found->second;
}

const Json& ValueOf(const std::string& key, const Json& json, const std::string& where,
                    int64_t version) {
  if (const auto found = json.find(key); found != json.end()) return *found;
  if (key == "beta1" && version < kBeta1Since) return io::Member(json, "momentum");
  const Later* const later = LaterSetting(key);
  Require(later != nullptr && version < later->since, where, "setting \"{}\" is missing", key);
  return later->before;
}

void RequireKnown(const Json& json, const std::string& where, int64_t version) {
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.insert(io::Printable(key).text());
  const Settings known;
  ForEachSetting(known, [&](const std::string& flag, const auto&) { keys.erase(KeyOf(flag)); });
  Require(keys.empty(), where, "has settings that are unknown here: {}{}", fmt::join(keys, ", "),
          version > kSettingsVersion ? "; a newer Torus wrote it" : "");
}

}  // namespace

Json ToJson(const Settings& settings) {
  Json json = Json::object();
  ForEachSetting(settings,
                 [&](const std::string& flag, const auto& value) { json[KeyOf(flag)] = value; });
  return json;
}

Settings SettingsFromJson(const Json& json, const std::string& where, int64_t version) {
  Require(json.is_object(), where, "settings must be an object, got {}", json.type_name());
  RequireKnown(json, where, version);
  Settings settings;
  ForEachSetting(settings, [&](const std::string& flag, auto& value) {
    const Json& found = ValueOf(KeyOf(flag), json, where, version);
    Require(Fits(found, value), where, "setting \"{}\" is of the wrong type, got {}", KeyOf(flag),
            io::Brief(found));
    found.get_to(value);
  });
  return settings;
}

}  // namespace torus::recipes
