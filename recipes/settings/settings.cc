#include "recipes/settings/settings.h"

#include <nlohmann/json.hpp>

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

// Settings that were added to those of older checkpoints, with what their runs did.
const Json& BeforeItWasASetting(const std::string& key) {
  static const Json values{{"collectives", "ring"}, {"drop-last", false}};
  static const Json none;
  const auto found = values.find(key);
  return found == values.end() ? none : *found;
}

}  // namespace

Json ToJson(const Settings& settings) {
  Json json = Json::object();
  ForEachSetting(settings,
                 [&](const std::string& flag, const auto& value) { json[KeyOf(flag)] = value; });
  return json;
}

Settings SettingsFromJson(const Json& json, const std::string& where) {
  Require(json.is_object(), where, "settings must be an object, got {}", json.type_name());
  Settings settings;
  size_t known = 0;  // keys of the file
  ForEachSetting(settings, [&](const std::string& flag, auto& value) {
    const auto in_file = json.find(KeyOf(flag));
    const Json& found = in_file != json.end() ? *in_file : BeforeItWasASetting(KeyOf(flag));
    Require(!found.is_null(), where, "setting \"{}\" is missing", KeyOf(flag));
    Require(Fits(found, value), where, "setting \"{}\" is of the wrong type, got {}", KeyOf(flag),
            io::Brief(found));
    found.get_to(value);
    known += in_file != json.end() ? 1 : 0;
  });
  Require(json.size() == known, where, "must have {} settings, got {}", known, json.size());
  return settings;
}

}  // namespace torus::recipes
